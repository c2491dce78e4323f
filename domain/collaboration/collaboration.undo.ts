import type { UndoSpec } from '../kernel/undo/undo.types.ts';
import { commentUndo } from './comments/comments.undo.ts';
import { fileUndo } from './files/files.undo.ts';
import { stakeholderUndo } from './stakeholders/stakeholders.undo.ts';

/** What people attach to cards; plain rows where nothing else hangs on them. */
export const collaborationUndo: UndoSpec[] = [
  stakeholderUndo,
  commentUndo,
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
