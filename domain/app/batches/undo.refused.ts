import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { undoRefusals, undoSpecs } from '../resources.ts';

/**
 * Event types without anything to undo: downloaded files, jobs whose writes have their own batches, and runs of
 * analyses, which remain in the list of runs.
 */
export const ignoredEvents: readonly EventType[] = [
  'export.started',
  'export.streamed',
  'report.started',
  'report_query.started',
  'file.downloaded',
  'import.started',
  'import.discarded',
  'migration.uploaded',
  'migration.mapped',
  'migration.started',
  'migration.previewed',
  'migration.applied',
  'migration.failed',
  'analysis_run.started',
  'analysis_run.completed',
  'analysis_run.failed',
  'analysis_run.cancelled',
];

/** First parts of the types of events that are never in a batch. */
export const outsideBatches = ['auth', 'mutation_batch'] as const;

/** Events that cannot be undone, by the event type or its first part, with the reason. */
export const refusedEvents: Record<string, string> = {
  user: 'Accounts are administered by hand.',
  api_token: 'Tokens are not stored and cannot be restored.',
  'settings.secret_changed': 'Secrets are not in events, and so cannot be restored.',
  job: 'Jobs run on, or have ended.',
  schedule: 'Schedules are administered by hand.',
  extraction_schedule: 'Schedules contain secrets, and extracted data has left the service.',
  extraction_run: 'Extracted data has left the service.',
  itsm_connection: 'Connections have secrets, which are not in events, so they cannot be restored.',
  itsm_mapping: 'What was agreed on with the remote is forgotten with a mapping, and does not come back.',
  itsm_pair: 'Pairs are taken apart and put together by operations of their own.',
  itsm_pairs: 'Pairs are taken apart and put together by operations of their own.',
  itsm_question: 'The answer is carried out by a run, which can be taken back.',
  itsm_run: 'A run is taken back by an undo of its own, which sees to both sides.',
  duplicates: 'A run has found them, and the next one finds them again.',
  'notification.created': 'Notifications cannot be withdrawn.',
  'notification.updated': 'Notifications cannot be withdrawn.',
};

const bySpec = new Map<string, UndoSpec>(
  undoSpecs.flatMap((spec) =>
    [spec.events.created, spec.events.updated, spec.events.deleted]
      .flatMap((types) => types ?? [])
      .map((type) => [type, spec] as const),
  ),
);

/** How an event is undone: `card` and `relation` in sets, others by their spec; undefined if it cannot be undone. */
export function undoMethodOf(type: EventType): 'card' | 'relation' | UndoSpec | undefined {
  const spec = bySpec.get(type);
  if (spec) return spec;
  if (type.startsWith('card.')) return 'card';
  return type.startsWith('relation.') ? 'relation' : undefined;
}

/** Why events of this type cannot be undone; undefined if they can, or need not be. */
export function refusalOf(type: EventType): string | undefined {
  if (undoMethodOf(type) || ignoredEvents.includes(type)) return undefined;
  return (
    undoRefusals.get(type) ??
    refusedEvents[type] ??
    refusedEvents[type.split('.')[0]!] ??
    'It cannot be undone.'
  );
}
