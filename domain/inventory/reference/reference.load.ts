import { invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { nodesOfCsv } from './reference.csv.ts';
import { ReferenceCatalogue } from './reference.model.ts';
import { type GivenNode, readNodes } from './reference.rules.ts';
import { type CatalogueKind, type CatalogueNode, catalogueKinds, MAX_NODES } from './reference.types.ts';

export interface CatalogueDocument {
  catalogue_version: string;
  source?: string;
  /** One of these two. */
  nodes?: GivenNode[];
  csv?: string;
}

export interface LoadedCatalogue {
  kind: CatalogueKind;
  catalogue_version: string;
  node_count: number;
}

/**
 * Puts a catalogue in the place of the one of its kind. Cards that were made of the former one stay.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export async function loadCatalogue(
  ctx: Ctx,
  kind: CatalogueKind,
  { catalogue_version, source = 'loaded', nodes, csv }: CatalogueDocument,
): Promise<LoadedCatalogue> {
  requirePermission(ctx.caller, 'admin.metamodel');
  if ((nodes === undefined) === (csv === undefined)) {
    throw invalidField('nodes', 'required', 'must be given, or csv instead of it');
  }
  const field = nodes ? 'nodes' : 'csv';
  const given = nodes ?? nodesOfCsv(csv!, catalogueKinds[kind].type);
  if (given.length === 0 || given.length > MAX_NODES) {
    throw invalidField(field, 'out_of_range', `must hold 1 to ${MAX_NODES} entries`);
  }
  const read = readNodes(given, field);
  if ('code' in read[0]!) throw invalidFields(read as never);
  return await command(ctx, async (work) => {
    await work.sql.raw(
      `insert into reference_catalogues (kind, catalogue_version, source, nodes) values (?, ?, ?, ?::jsonb)
       on conflict (kind) do update set catalogue_version = excluded.catalogue_version, source = excluded.source,
         nodes = excluded.nodes, loaded_at = clock_timestamp()`,
      [kind, catalogue_version, source, JSON.stringify(read as CatalogueNode[])],
    );
    const loaded = { kind, catalogue_version, node_count: read.length };
    work.emit({ event_type: 'reference_catalogue.loaded', data: { id: kind, source, ...loaded } });
    return loaded;
  });
}

/** Brings back the bundled catalogue of a kind. @throws EstateError `forbidden`, `not_found` where none was loaded. */
export async function unloadCatalogue(ctx: Ctx, kind: CatalogueKind): Promise<void> {
  requirePermission(ctx.caller, 'admin.metamodel');
  await command(ctx, async (work) => {
    const removed = await deleteRows(work.sql, ReferenceCatalogue, (query) => query.where({ kind }));
    if (removed.length === 0) throw notFound('loaded catalogue', kind);
    work.emit({ event_type: 'reference_catalogue.removed', data: { id: kind, kind } });
  });
}
