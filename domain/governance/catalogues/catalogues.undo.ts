import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { CATALOGUES_TOPIC } from './catalogue.types.ts';
import { principles, regulations, resourceTypes } from './catalogues.ts';

/** Entries of catalogues are rows whose events tell all of them. */
export const catalogueUndo: UndoSpec[] = [principles, regulations, resourceTypes].map(
  ({ entity, events, table }) => ({
    entity,
    events: { created: [events.created], updated: [events.updated], deleted: [events.deleted] },
    table,
    topics: () => [CATALOGUES_TOPIC],
  }),
);
