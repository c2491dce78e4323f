import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { signedUndo } from '../signatures/signatures.undo.ts';
import { adrKind } from './adr.kind.ts';

/** Decisions, and their links to cards. */
export const adrUndo: UndoSpec[] = [
  signedUndo(adrKind),
  {
    entity: 'decision link',
    table: 'adr_cards',
    events: { created: ['adr_card.created'], deleted: ['adr_card.deleted'] },
  },
];
