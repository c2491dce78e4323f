import { query, type Sql } from '../../../platform/database.ts';
import { createVersionedStore, type VersionedStore } from '../versioned.ts';
import { compileMetamodel, type Metamodel } from './metamodel.compile.ts';

/** The topic that every change of types, roles, tag groups and their rules raises. */
export const METAMODEL_TOPIC = 'metamodel';

/** Reads and compiles the metamodel as the given connection or transaction sees it. */
export async function loadMetamodel(sql: Sql): Promise<Metamodel> {
  const rows = await query(sql).rows`select
       coalesce((select version from topic_versions where topic = ${METAMODEL_TOPIC}), 0) as version,
       (select coalesce(jsonb_agg(t), '[]') from card_types t) as card_types,
       (select coalesce(jsonb_agg(t), '[]') from relation_types t) as relation_types,
       (select coalesce(jsonb_agg(t), '[]') from stakeholder_role_definitions t) as roles,
       (select coalesce(jsonb_agg(k), '[]') from calculations k where k.is_active) as calculations,
       (select coalesce(jsonb_agg(to_jsonb(g) || jsonb_build_object(
          'has_tags', exists (select from tags where tag_group_id = g.id))), '[]')
          from tag_groups g) as tag_groups`;
  const row = rows[0];
  return compileMetamodel({
    version: Number(row.version),
    cardTypes: row.card_types,
    relationTypes: row.relation_types,
    roles: row.roles,
    tagGroups: row.tag_groups,
    calculations: row.calculations,
  });
}

/** Caches the latest compiled metamodel of a process. */
export type MetamodelStore = VersionedStore<Metamodel>;

export const createMetamodelStore = (): MetamodelStore => createVersionedStore(loadMetamodel);
