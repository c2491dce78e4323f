import type { CardRight } from '../../kernel/permissions/policy.ts';
import { needs, personal, type UndoRight } from '../../kernel/undo/undo.types.ts';

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
  notification: personal('notifications.manage'),
  principle: needs('admin.metamodel'),
  regulation: needs('admin.metamodel'),
  resource_type: needs('admin.metamodel'),
  // decided setting by setting
  settings: needs(),
  survey: needs('surveys.manage'),
  'survey.sent': needs('surveys.manage', 'stakeholders.view'),
  survey_response: { needs: ['surveys.respond'], others: ['surveys.manage'] },
  compliance_finding: needs('compliance.manage', 'grc.manage'),
  adr: needs('adr.manage'),
  'adr.deleted': { needs: ['adr.manage'], others: ['adr.delete'] },
  'adr.signed': personal('adr.sign'),
  'adr.rejected': personal('adr.sign'),
  adr_card: needs({ app: 'adr.manage', card: 'card.manage_adr_links' }),
  soaw: needs('soaw.manage'),
  'soaw.signed': personal('soaw.sign'),
  'soaw.rejected': personal('soaw.sign'),
};
