import { invalidField } from '../../../platform/errors.ts';
import { labelsIn } from '../../inventory/metamodel/metamodel.list.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Stakeholder } from '../collaboration.model.ts';

export const stakeholderSorts: Record<string, SortField> = {
  role: { sql: 's.role', type: 'text' },
  user_display_name: { sql: 'fold(u.display_name)', type: 'text' },
  created_at: { sql: 's.created_at', type: 'timestamptz', immutable: true },
};

/** The assignments of cards over the alias `s`. */
export const stakeholderList: ListSpec = {
  name: 'stakeholders',
  from: `stakeholders s join users u on u.id = s.user_id join cards k on k.id = s.card_id
         left join stakeholder_role_definitions d on d.card_type_key = k.type and d.key = s.role`,
  id: 's.id',
  sorts: stakeholderSorts,
  defaultSort: 'role',
  search: "fold(u.display_name || ' ' || u.email)",
  members: {
    ...columnMembers('s', Stakeholder),
    user_display_name: 'u.display_name',
    user_email: 'u.email',
    role_label: 'coalesce(d.label, s.role)',
  },
};

/** Who holds which role on a card. @throws EstateError `forbidden`, `not_found`. */
export async function listStakeholders(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'stakeholders.view');
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  const ofCard: Condition = { sql: 's.card_id = ?::uuid', bindings: [card.id] };
  return await runList(ctx.db, stakeholderList, [ofCard], params, { owner: ctx.caller.userId });
}

/**
 * The roles that can be given on cards of shown types, each once by its key, as the first type in order names it; or
 * those of one type.
 * @throws EstateError `validation_failed` for an unknown type.
 */
export async function listStakeholderRoles(
  ctx: Ctx,
  params: ListParams & { type_key?: string },
  language: string,
): Promise<JsonText> {
  const labels = labelsIn(language);
  const label = labels.text('d', 'label');
  const conditions: Condition[] = [{ sql: 'not d.is_archived and not t.is_hidden', bindings: [] }];
  if (params.type_key === undefined) {
    conditions.push({
      sql: `not exists (
        select from stakeholder_role_definitions o join card_types p on p.key = o.card_type_key
        where o.key = d.key and not o.is_archived and not p.is_hidden
          and (p.sort_order, p.key) < (t.sort_order, t.key))`,
      bindings: [],
    });
  } else {
    if (!ctx.metamodel.cardTypes.has(params.type_key)) {
      throw invalidField('type_key', 'unknown_value', `"${params.type_key}" is not known`);
    }
    conditions.push({ sql: 'd.card_type_key = ?', bindings: [params.type_key] });
  }
  const spec: ListSpec = {
    name: 'stakeholder-roles',
    from: 'stakeholder_role_definitions d join card_types t on t.key = d.card_type_key',
    id: 'd.id',
    sorts: {
      sort_order: { sql: 'd.sort_order', type: 'numeric' },
      label: { sql: `fold(${label})`, type: 'text' },
      key: { sql: 'd.key', type: 'text', immutable: true },
    },
    defaultSort: 'sort_order',
    search: `fold(d.key || ' ' || ${label})`,
    members: { key: 'd.key', label, translations: 'd.translations' },
  };
  return await runList(ctx.db, spec, conditions, params, { owner: ctx.caller.userId });
}
