import type { Sql } from '../../../platform/database.ts';
import { type EstateError, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { cardTypeList, relationTypeList, roleList } from './metamodel.lists.ts';

/** The card types, labels in the language; hidden ones only when asked for. */
export async function listCardTypes(
  ctx: Ctx,
  params: ListParams & { include_hidden: boolean },
  language: string,
): Promise<JsonText> {
  const conditions = params.include_hidden ? [] : [{ sql: 'not t.is_hidden', bindings: [] }];
  return await runList(ctx.db, cardTypeList(language), conditions, params);
}

/** The relation types, of one card type on either side where `type_key` is given. */
export async function listRelationTypes(
  ctx: Ctx,
  params: ListParams & { include_hidden: boolean; type_key?: string },
  language: string,
): Promise<JsonText> {
  const conditions = [];
  if (!params.include_hidden) {
    conditions.push({ sql: 'not (t.is_hidden or st.is_hidden or tt.is_hidden)', bindings: [] });
  }
  if (params.type_key !== undefined) {
    conditions.push({
      sql: '? in (t.source_type_key, t.target_type_key)',
      bindings: [params.type_key],
    });
  }
  return await runList(ctx.db, relationTypeList(language), conditions, params);
}

/** The stakeholder roles of one card type. @throws EstateError `not_found` for an unknown type. */
export async function listStakeholderRoleDefinitions(
  ctx: Ctx,
  typeKey: string,
  params: ListParams & { include_archived: boolean },
  language: string,
): Promise<JsonText> {
  if (!ctx.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
  const conditions = [{ sql: 'd.card_type_key = ?', bindings: [typeKey] as unknown[] }];
  if (!params.include_archived) conditions.push({ sql: 'not d.is_archived', bindings: [] });
  return await runList(ctx.db, roleList(language), conditions, params);
}

async function one(
  sql: Sql,
  spec: ListSpec,
  where: string,
  bindings: string[],
  error: EstateError,
): Promise<JsonText> {
  const members = Object.entries(spec.members).map(([name, member]) => `'${name}', ${member}`);
  const { rows } = await sql.raw(
    `select json_build_object(${members.join(', ')})::text as item from ${spec.from} where ${where}`,
    bindings,
  );
  if (!rows[0]) throw error;
  return rows[0].item;
}

/** One card type, hidden or not. @throws EstateError `not_found`. */
export async function readCardType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await one(sql, cardTypeList(language), 't.key = ?', [key], notFound('card type', key));
}

/** One relation type, hidden or not. @throws EstateError `not_found`. */
export async function readRelationType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await one(sql, relationTypeList(language), 't.key = ?', [key], notFound('relation type', key));
}

/** One stakeholder role with the number of assignments. @throws EstateError `not_found`. */
export async function readStakeholderRoleDefinition(
  sql: Sql,
  typeKey: string,
  roleKey: string,
  language: string,
): Promise<JsonText> {
  const list = roleList(language);
  const spec: ListSpec = {
    ...list,
    members: {
      ...list.members,
      stakeholder_count: `(select count(*) from stakeholders s join cards c on c.id = s.card_id
        where s.role = d.key and c.type = d.card_type_key)`,
    },
  };
  return await one(
    sql,
    spec,
    'd.card_type_key = ? and d.key = ?',
    [typeKey, roleKey],
    notFound('stakeholder role', `${typeKey}/${roleKey}`),
  );
}
