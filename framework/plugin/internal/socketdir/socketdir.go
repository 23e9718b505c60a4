// Package socketdir makes the folders in which plugins listen.
//
// A folder is made in a private base of the user: rlrun in $XDG_RUNTIME_DIR, else
// rlrun-UID in the folder for temporary files. The base is used only if it is a
// folder, not a link, that belongs to this user and that only this user can enter.
// It must lie in a folder where no other user can replace it. Otherwise, and on
// systems without owners of files, every folder is a fresh one with a random name.
//
// A host that is killed while a plugin starts leaves its folder behind. The next
// host removes it. It looks in its own base alone, and there only at folders
// with a lock of rlrun that no process holds. It removes only files that rlrun
// and its plugins make.
package socketdir

// Names of files in a folder.
const (
	// Socket is a name for a socket.
	Socket = "plugin"
	lock   = "lock"
)

// maxBase is the length of the longest base, in bytes. A socket's name has at most
// 103 bytes (macOS): the base, a folder of ours (11), go-plugin's in it (21), and
// the socket (17).
const maxBase = 54

// Folder is a folder that only this user can enter.
type Folder struct {
	Path   string
	remove func()
}

// Remove removes the folder with the sockets in it.
func (f Folder) Remove() { f.remove() }
