import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A part of the bench that runs in a process of its own, so that it does not disturb what is measured. */
export interface Program extends Disposable {
  /** Sends a message. @returns the program's answer. @throws Error if the program fails or ends. */
  ask<T>(message: object): Promise<T>;
}

/** Starts a program of `test/bench/programs`. */
export function startProgram(name: string): Program {
  const child = fork(path.join(import.meta.dirname, '../programs', `${name}.ts`));
  return {
    async ask<T>(message: object) {
      const given = new AbortController();
      const { signal } = given;
      const ended = once(child, 'exit', { signal }).then(() =>
        Promise.reject(new Error(`${name} has ended`)),
      );
      // ended by the signal once there is an answer
      ended.catch(() => undefined);
      const answer = once(child, 'message', { signal });
      child.send(message);
      try {
        const [reply] = (await Promise.race([answer, ended])) as [{ answer: T; error?: string }];
        if (reply.error !== undefined) throw new Error(`${name}: ${reply.error}`);
        return reply.answer;
      } finally {
        given.abort();
      }
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

/** Answers the messages of `ask`; to be called once by each program. */
export function answerMessages<T extends object>(answer: (message: T) => Promise<unknown> | unknown): void {
  process.on('message', async (message: T) => {
    try {
      process.send!({ answer: await answer(message) });
    } catch (error) {
      process.send!({ error: (error as Error).stack });
    }
  });
  process.on('disconnect', () => process.exit());
}
