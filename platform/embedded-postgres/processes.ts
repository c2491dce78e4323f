import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

function ps(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and belongs to another user
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * What a running process is told by besides its pid, which the system gives out again: the moment of its start.
 * @returns undefined when it has ended, also when its parent has not yet taken notice.
 */
export function processMark(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // proc(5): the name in brackets may hold anything; the state follows it, the start is the 22nd field
    const fields = procFile(pid, 'stat')?.split(') ').at(-1)?.split(' ') ?? ['X'];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  }
  if (!exists(pid)) return undefined;
  return process.platform === 'win32' ? 'running' : ps(pid, 'lstart');
}

/** The program and arguments of a running process in one text; undefined where the system does not say. */
export function commandOf(pid: number): string | undefined {
  if (process.platform === 'linux') return procFile(pid, 'cmdline')?.replaceAll('\0', ' ').trim();
  return process.platform === 'win32' ? undefined : ps(pid, 'args');
}
