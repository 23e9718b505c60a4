//go:build !linux

package plugin

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const seesPrograms = false

func openProgram(int) (*os.File, string, error) { return nil, "", errors.ErrUnsupported }

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func asLink(string, string, *os.File) string { return "" }
