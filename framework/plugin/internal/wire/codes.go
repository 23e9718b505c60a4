package wire

import (
	"github.com/rlrun/rlrun/framework"
	pb "github.com/rlrun/rlrun/framework/plugin/internal/proto"
)

// Sentinels are the errors of the framework that have a code.
var Sentinels = map[pb.Code]error{
	pb.Code_CODE_NEEDS_RESET:    framework.ErrNeedsReset,
	pb.Code_CODE_INVALID_ACTION: framework.ErrInvalidAction,
	pb.Code_CODE_INVALID_PARAMS: framework.ErrInvalidParams,
	pb.Code_CODE_UNSUPPORTED:    framework.ErrUnsupported,
	pb.Code_CODE_INVALID_ANSWER: framework.ErrInvalidAnswer,
}
