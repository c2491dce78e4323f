/** What glibc reads once, when a process begins. */
const SETTING = 'MALLOC_ARENA_MAX';

/**
 * Keeps what lies outside the JavaScript heap small, on Linux. glibc gives up to eight arenas a core to a process with threads, as
 * V8's compilers and collectors are, and hardly ever returns what was freed in one: an import of 100,000 cards left 15 MB
 * there. Malloc is no bottleneck of a program whose objects lie in the heap, so one arena does. The setting counts only from the
 * beginning, so where nobody has made it the process begins anew under the same id; to be called before anything is loaded
 * or opened.
 */
export function useOneArena(): void {
  if (process.platform !== 'linux' || process.env[SETTING] !== undefined || process.channel) return;
  // programs other than Node 24's do not offer it; the process is then larger, and that is all
  const { execve } = process;
  if (typeof execve !== 'function') return;
  execve.call(process, process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...process.env,
    [SETTING]: '1',
  });
}
