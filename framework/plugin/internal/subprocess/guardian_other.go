//go:build !unix

package subprocess

// guardGroup and dismissGroup do nothing: a plugin ends with its host, what it has started
// does not.
func guardGroup(int)   {}
func dismissGroup(int) {}
