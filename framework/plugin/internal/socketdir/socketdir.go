// Package socketdir makes the directories in which plugins listen.
//
// A directory is made in a private base of the user: rlrun in $XDG_RUNTIME_DIR, else
// rlrun-UID in the directory for temporary files. The base is used only if it is a
// directory, not a link, that belongs to this user and that only this user can enter.
// It must lie in a directory where no other user can replace it. Otherwise, and on
// systems without owners of files, every directory is a fresh one with a random name.
//
// A host that is killed while a plugin starts leaves its directory behind. The next
// host removes it. It looks in its own base alone, and there only at directories
// with a lock of rlrun that no process holds. It removes only files that rlrun
// and its plugins make.
package socketdir

// Names of files in a directory.
const (
	// Socket is a name for a socket.
	Socket = "plugin"
	lock   = "lock"
)

// maxBase is the length of the longest base, in bytes. A socket's name has at most
// 103 bytes (macOS): the base, a directory of ours (11), go-plugin's in it (21), and
// the socket (17).
const maxBase = 54

// Dir is a directory that only this user can enter.
type Dir struct {
	Path   string // of the directory
	remove func()
}

// Remove removes the directory with the sockets in it.
func (f Dir) Remove() { f.remove() }
