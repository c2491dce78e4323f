import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { stageCard } from './imports.cards.stage.ts';
import type { StagedCard } from './imports.cards.types.ts';
import { readTagCatalogue, readUserIds } from './imports.people.ts';
import { type StagedRelation, stageRelation } from './imports.relations.stage.ts';
import type { ImportKind, ImportRow } from './imports.row.ts';

/** The staged rows of each kind. */
interface StagedRows {
  cards: StagedCard;
  relations: StagedRelation;
}

/** Converts parsed rows to staged rows: checks everything that does not depend on other rows or cards. */
type Stager<K extends ImportKind> = (sql: Sql, rows: ImportRow<K>[]) => Promise<StagedRows[K][]>;

const stagers: { [K in ImportKind]: (ctx: Ctx, db: Sql) => Promise<Stager<K>> } = {
  relations: async (ctx) => async (sql, rows) => {
    const types = await typesOfIds(sql, 'relations', rows);
    return rows.map((row) => stageRelation(ctx, row, types));
  },
  async cards(ctx, db) {
    const catalogue = await readTagCatalogue(db);
    return async (sql, rows) => {
      const types = await typesOfIds(sql, 'cards', rows);
      const emails = rows.flatMap(({ values }) => (values.stakeholders ?? []).map(({ email }) => email));
      const users = await readUserIds(sql, emails);
      return rows.map((row) => stageCard(ctx, row, { catalogue, users, types }));
    };
  },
};

/** Creates the stager of a kind. The tags of the workspace are read once. */
export const createStager = <K extends ImportKind>(ctx: Ctx, db: Sql, kind: K): Promise<Stager<K>> =>
  stagers[kind](ctx, db);

/** The types of cards or relations that rows identify by their id only. */
async function typesOfIds(sql: Sql, table: ImportKind, rows: ImportRow[]): Promise<Map<string, string>> {
  const ids = rows.flatMap(({ values }) => (values.id && values.type === undefined ? [values.id] : []));
  if (ids.length === 0) return new Map();
  const found: { id: string; type: string }[] = await sql(table).whereIn('id', ids).select('id', 'type');
  return new Map(found.map(({ id, type }) => [id, type]));
}
