import { needs, type UndoRight } from '../../kernel/undo/undo.types.ts';

/**
 * The rights by event type or by its first part, the type first. Those of resources stand in their declarations.
 */
export const undoRights: Record<string, UndoRight> = {
  // decided setting by setting
  settings: needs(),
};
