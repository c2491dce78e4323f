import type { UndoSpec } from '../batches/undo.types.ts';
import { fileUndo } from './files/files.undo.ts';
import { stakeholderUndo } from './stakeholders/stakeholders.undo.ts';

/** What people attach to cards: plain rows, but for stakeholders, whom a score follows, and files with their contents. */
export const collaborationUndo: UndoSpec[] = [
  stakeholderUndo,
  {
    entity: 'comment',
    table: 'comments',
    events: { created: ['comment.created'], updated: ['comment.updated'], deleted: ['comment.deleted'] },
  },
  {
    entity: 'todo',
    table: 'todos',
    events: { created: ['todo.created'], updated: ['todo.updated'], deleted: ['todo.deleted'] },
  },
  {
    entity: 'document',
    table: 'documents',
    events: { created: ['document.added'], deleted: ['document.removed'] },
  },
  fileUndo,
];
