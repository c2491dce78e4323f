import { spawn } from 'node:child_process';

/** A process of the service, or a part of it, started by a test. */
export type Child = ReturnType<typeof startChild>;

/** Loading the service fills a young generation of the usual size ten times: collecting that takes a tenth of a start. */
const FEW_COLLECTIONS = ['--min-semi-space-size=32', '--max-semi-space-size=64'];

/** How long a test waits for a line of output, in milliseconds. */
const OUTPUT_LIMIT_MS = 120_000;

/** Starts a TypeScript file with the running Node. @param options the account to run as, and options of Node. */
export function startChild(
  file: string,
  args: string[] = [],
  env: Record<string, string | undefined> = {},
  { flags = FEW_COLLECTIONS, ...account }: { uid?: number; gid?: number; flags?: string[] } = {},
) {
  const child = spawn(process.execPath, [...flags, file, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    ...account,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let wake: (() => void)[] = [];
  let exit: { code: number | null } | undefined;
  const changed = () => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      changed();
    });
  }
  child.on('close', (code) => {
    exit = { code };
    changed();
  });
  const change = () => new Promise<void>((resolve) => wake.push(resolve));
  return {
    process: child,
    /** Everything it printed so far. */
    output: () => output,
    /** Waits until the output fits. @throws Error with the output when the process ends before, or prints it too late. */
    async until(pattern: RegExp) {
      const late = AbortSignal.timeout(OUTPUT_LIMIT_MS);
      late.addEventListener('abort', changed);
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (exit || late.aborted)
          throw new Error(
            `the process ${exit ? `ended with ${exit.code}` : 'lives on, but'} has not printed ${pattern}:\n${output}`,
          );
        await change();
      }
    },
    /** The exit code (null after a signal) and all output. */
    async ended() {
      while (!exit) await change();
      return { code: exit.code, output };
    },
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
  };
}
