import { queryRows, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import type { CardColumns } from '../cards/cards.model.ts';
import { visibleCards } from '../cards/cards.visible.ts';
import { bundledCatalogue } from './reference.bundled.ts';
import { ReferenceCatalogue } from './reference.model.ts';
import { type Catalogue, type CatalogueKind, type CatalogueNode, catalogueKinds } from './reference.types.ts';

/** The catalogue of a kind in force: the one that was loaded, else the bundled one. */
export async function catalogueOf(sql: Sql, kind: CatalogueKind): Promise<Catalogue> {
  const [loaded] = await findRows(sql, ReferenceCatalogue, (query) => query.where({ kind }));
  if (!loaded) return bundledCatalogue(kind);
  const { catalogue_version, source, nodes, loaded_at } = loaded;
  return { kind, version: catalogue_version, generatedAt: new Date(loaded_at).toISOString(), source, nodes };
}

/**
 * The cards that stand for nodes already: those with the node's id as external id, else with one of its names below the
 * card of the node above. Cards that are archived count for their external ids alone, which they keep.
 * @param sees only cards that the caller sees.
 */
export async function standingCards(
  sql: Sql,
  ctx: Ctx,
  { kind, nodes }: Pick<Catalogue, 'kind' | 'nodes'>,
  sees: boolean,
): Promise<Map<string, string>> {
  const { type } = catalogueKinds[kind];
  const visible = sees ? visibleCards(ctx) : { sql: 'true', bindings: [] };
  const rows = await queryRows<Pick<CardColumns, 'id' | 'external_id' | 'parent_id' | 'name' | 'status'>>(
    sql,
    `select c.id, c.external_id, c.parent_id, lower(c.name) as name, c.status
     from cards c where c.type = ? and ${visible.sql}
       and (c.external_id = any(?::text[]) or (c.status = 'ACTIVE' and lower(c.name) = any(
         select lower(n) from unnest(?::text[]) n)))`,
    [type, ...visible.bindings, nodes.map(({ id }) => id), nodes.flatMap(namesOf)],
  );
  const byExternalId = new Map<string, string>();
  const byPlace = new Map<string, string>();
  for (const { id, external_id, parent_id, name, status } of rows) {
    if (external_id !== null) byExternalId.set(external_id, id);
    if (status === 'ACTIVE') byPlace.set(`${parent_id ?? ''}/${name}`, id);
  }
  const found = new Map<string, string>();
  for (const node of nodes) {
    const above = node.parent_id === null ? '' : found.get(node.parent_id);
    const named =
      above === undefined
        ? undefined
        : namesOf(node)
            .map((name) => byPlace.get(`${above}/${name.toLowerCase()}`))
            .find((id) => id !== undefined);
    const card = byExternalId.get(node.id) ?? named;
    if (card !== undefined) found.set(node.id, card);
  }
  return found;
}

const namesOf = ({ names }: CatalogueNode): string[] => Object.values(names);
