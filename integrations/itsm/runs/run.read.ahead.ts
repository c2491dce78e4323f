import type { RunWork } from './run.types.ts';

/**
 * The pages of a reading from where the run stands. While one is stored the next is already on its way; what it fails
 * with is thrown when its turn comes.
 */
export async function* readAhead<P extends { next: string | null }>(
  { signal, state }: Pick<RunWork, 'signal' | 'state'>,
  ask: (cursor: string | null) => Promise<P>,
): AsyncGenerator<P> {
  signal.throwIfAborted();
  for (let coming = ask(state.cursor); ; ) {
    const page = await coming;
    signal.throwIfAborted();
    if (page.next !== null) {
      coming = ask(page.next);
      // a reading that is left before has nobody who waits for it
      coming.catch(() => {});
    }
    yield page;
    if (page.next === null) return;
  }
}
