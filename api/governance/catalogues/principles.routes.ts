import Type from 'typebox';
import {
  importPrinciples,
  principleLanguages,
  readPrinciplesCatalogue,
} from '../../../domain/governance/catalogues/catalogue.commands.ts';
import { Count, component, DateOnly, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const url = '/api/v1/principles-catalogue';

const Id = Type.String({ minLength: 1, maxLength: 100, examples: ['EAP-03'] });

const CatalogueSchema = component('PrinciplesCatalogue', {
  catalogue_version: Type.String(),
  generated_at: DateOnly,
  principles: Type.Array(
    object({
      id: Id,
      title: Type.String(),
      description: Nullable(Type.String()),
      rationale: Type.String(),
      implications: Type.String(),
      existing_principle_id: Nullable(
        Type.String({ ...Uuid, description: 'The principle that was imported from it' }),
      ),
    }),
  ),
});
const ImportedSchema = component('ImportedPrinciples', {
  created: Count,
  skipped: Type.Integer({ minimum: 0, description: 'Principles that were imported before' }),
  ids: Type.Array(Uuid, { description: 'The principles in the order of the request' }),
});

/** The bundled catalogue of principles, in English and German. */
export function registerPrinciplesCatalogueRoutes(app: App): void {
  const administering = routesOf(app, {
    tag: 'Metamodel',
    permission: 'admin.metamodel',
    languages: () => principleLanguages,
  });

  administering.get(url, {
    id: 'getPrinciplesCatalogue',
    summary: 'Read the catalogue of principles',
    description: 'Twenty principles in English or German, to be imported and changed.',
    responses: ok('The catalogue', CatalogueSchema),
    handler: ({ ctx, language }) => readPrinciplesCatalogue(ctx, language),
  });

  administering.post('/api/v1/principles-catalogue/import', {
    id: 'importPrinciples',
    summary: 'Import principles from the catalogue',
    description:
      'In the language of `Accept-Language`. Principles that were imported before are not changed, so the request can be repeated.',
    body: object({ catalogue_ids: Type.Array(Id, { minItems: 1, maxItems: 200 }) }),
    responses: ok('The imported principles', ImportedSchema),
    handler: ({ ctx, body, language }) => importPrinciples(ctx, body.catalogue_ids, language),
  });
}
