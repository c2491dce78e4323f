import Type from 'typebox';
import {
  importPrinciples,
  principleLanguages,
  readPrinciplesCatalogue,
} from '../../domain/governance/catalogues/principles.catalogue.ts';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { negotiateLanguage } from '../language.ts';
import { operation } from '../operation.ts';
import type { App } from '../types.ts';

const administering = { tag: 'Metamodel', permission: 'admin.metamodel' } as const;
const url = '/api/v1/principles-catalogue';
const Id = Type.String({ minLength: 1, maxLength: 100, examples: ['EAP-03'] });

const CatalogueSchema = Type.Object(
  {
    catalogue_version: Type.String(),
    generated_at: DateOnly,
    principles: Type.Array(
      Type.Object(
        {
          id: Id,
          title: Type.String(),
          description: Nullable(Type.String()),
          rationale: Type.String(),
          implications: Type.String(),
          existing_principle_id: Nullable(
            Type.String({ ...Uuid, description: 'The principle as which the workspace has taken it over' }),
          ),
        },
        closed,
      ),
    ),
  },
  { $id: 'PrinciplesCatalogue', ...closed },
);
const ImportedSchema = Type.Object(
  {
    created: Type.Integer({ minimum: 0 }),
    skipped: Type.Integer({ minimum: 0, description: 'Those that the workspace had' }),
    ids: Type.Array(Uuid, { description: 'The principles in the order of the request' }),
  },
  { $id: 'ImportedPrinciples', ...closed },
);

/** Principles that come with the service, in English and German. */
export function registerPrinciplesCatalogueRoutes(app: App): void {
  app.addSchema(CatalogueSchema);
  app.addSchema(ImportedSchema);

  operation(app, {
    ...administering,
    method: 'GET',
    url,
    id: 'getPrinciplesCatalogue',
    summary: 'Read the catalogue of principles',
    description: 'Twenty principles in English or German, to be taken over and changed.',
    headers: ['Accept-Language'],
    answers: {
      200: {
        description: 'The catalogue',
        schema: Type.Ref('PrinciplesCatalogue#'),
        headers: ['Content-Language', 'Vary'],
      },
    },
    handler: async ({ ctx, request, reply }) =>
      await readPrinciplesCatalogue(ctx, negotiateLanguage(request, reply, principleLanguages)),
  });

  operation(app, {
    ...administering,
    method: 'POST',
    url: `${url}/import`,
    id: 'importPrinciples',
    summary: 'Take principles over from the catalogue',
    description:
      'In the language of `Accept-Language`. What was taken over before stays as it is, so that it may be called again.',
    headers: ['Accept-Language'],
    body: Type.Object({ catalogue_ids: Type.Array(Id, { minItems: 1, maxItems: 200 }) }, closed),
    bodyExample: { catalogue_ids: ['EAP-01', 'EAP-03'] },
    answers: {
      200: {
        description: 'What was taken over',
        schema: Type.Ref('ImportedPrinciples#'),
        headers: ['Content-Language', 'Vary'],
      },
    },
    handler: async ({ ctx, body, request, reply }) =>
      await importPrinciples(ctx, body.catalogue_ids, negotiateLanguage(request, reply, principleLanguages)),
  });
}
