import Type from 'typebox';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Choice, OpenObject, Timestamp } from '../../kernel/shapes.ts';
import { type CatalogueKind, type CatalogueNode, catalogueKinds } from './reference.types.ts';

/** A loaded catalogue, which replaces the bundled one of its kind. */
export class ReferenceCatalogue extends rowModel(
  'reference_catalogues',
  {
    kind: Choice(Object.keys(catalogueKinds) as CatalogueKind[]),
    catalogue_version: Type.String({ minLength: 1, maxLength: 100 }),
    source: Type.String({ minLength: 1, maxLength: 200 }),
    nodes: Type.Unsafe<CatalogueNode[]>(Type.Array(OpenObject)),
    loaded_at: Timestamp,
  },
  ['nodes'],
) {}
