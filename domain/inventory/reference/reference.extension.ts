import Type from 'typebox';
import type { Extension } from '../../kernel/extensions.ts';
import { rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp } from '../../kernel/shapes.ts';
import { type CatalogueKind, type CatalogueNode, catalogueKinds } from './reference.rules.ts';

/** A loaded catalogue, which replaces the bundled one of its kind. */
export class ReferenceCatalogue extends rowModel('reference_catalogues', {
  kind: Choice(Object.keys(catalogueKinds) as CatalogueKind[]),
  catalogue_version: Type.String({ minLength: 1, maxLength: 100 }),
  source: Type.String({ minLength: 1, maxLength: 200 }),
  url: Nullable(Type.String({ maxLength: 2000 })),
  nodes: Type.Unsafe<CatalogueNode[]>(Type.Array(OpenObject)),
  loaded_at: Timestamp,
}) {}

/** Reference catalogues. */
export const referenceExtension: Extension = {
  resources: [
    {
      model: ReferenceCatalogue,
      name: 'reference catalogue',
      events: { created: ['reference_catalogue.loaded'], deleted: ['reference_catalogue.removed'] },
      undo: { refused: 'Catalogues are loaded again from their source.' },
      transfer: { key: ['kind'], label: 't.kind', replaced: true },
    },
  ],
};
