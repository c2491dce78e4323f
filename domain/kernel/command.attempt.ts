import { EstateError } from '../../platform/errors.ts';
import type { Work } from './context.ts';
import type { EventDraft } from './events/events.types.ts';

/** What came of a part of a command: its value, or why it was refused. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; error: EstateError };

/**
 * Carries out a part of a command behind a savepoint: when it is refused, all that it has written and noted is taken
 * back, and the command goes on.
 */
export async function attempt<T>(work: Work, part: (work: Work) => Promise<T>): Promise<Attempt<T>> {
  const events: EventDraft[] = [];
  const topics: string[] = [];
  let value: T;
  try {
    value = await work.sql.transaction((sql) =>
      part({
        ...work,
        sql,
        emit: (event) => void events.push(event),
        raise: (topic) => void topics.push(topic),
      }),
    );
  } catch (error) {
    if (error instanceof EstateError) return { ok: false, error };
    throw error;
  }
  for (const event of events) work.emit(event);
  for (const topic of topics) work.raise(topic);
  return { ok: true, value };
}
