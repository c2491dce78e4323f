import type { CardRight } from '../../kernel/permissions/policy.ts';
import { needs, type UndoRight } from '../../kernel/undo/undo.types.ts';

const edit: CardRight = { app: 'inventory.edit', card: 'card.edit' };
const archive: CardRight = { app: 'inventory.archive', card: 'card.archive' };
const approve: CardRight = { app: 'inventory.approval_status', card: 'card.approval_status' };

/**
 * The rights by event type or by its first part, the type first. Those of resources stand in their declarations.
 */
export const undoRights: Record<string, UndoRight> = {
  card: needs(edit),
  'card.created': needs('inventory.create'),
  'card.archived': needs(archive),
  'card.restored': needs(archive),
  'card.deleted': needs({ app: 'inventory.delete', card: 'card.delete' }),
  'card.approval_status.approve': needs(approve),
  'card.approval_status.reject': needs(approve),
  'card.approval_status.reset': needs(approve),
  'card.merged': needs(edit, archive),
  'card.unmerged': needs(edit, archive),
  attachment: needs(edit, archive),
  relation: needs({ app: 'relations.manage', card: 'card.manage_relations' }),
  // decided setting by setting
  settings: needs(),
};
