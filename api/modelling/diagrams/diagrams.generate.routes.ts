import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { createDiagram } from '../../../domain/modelling/diagrams/diagrams.commands.ts';
import { generateDrawing } from '../../../reports/modelling/diagrams/generate.ts';
import { routesOf } from '../../operation.ts';
import { DiagramSchema, GenerateBody, GeneratedDrawingSchema } from '../../schemas/diagrams.ts';
import type { App } from '../../types.ts';

/** Diagrams that are generated from the inventory. */
export function registerGenerateRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Diagrams' });

  routes.post('/api/v1/diagrams/generate', {
    id: 'generateDiagram',
    summary:
      'Generate a diagram of the dependencies of a card, or of the cards of a type grouped by another type',
    description:
      'Returns a preview without writing, unless `save` is given. It contains active cards that you see, each with its `cardId`, so that reads of the diagram update it; `truncated` is true if there are more than `max_cards`.',
    permission: 'diagrams.view',
    permissionNote: 'inventory.view; relations.view; diagrams.manage to save',
    body: GenerateBody,

    errors: ['not_found'],
    answers: {
      200: { description: 'The preview', schema: GeneratedDrawingSchema },
      201: { description: 'The saved diagram', schema: DiagramSchema, headers: ['ETag'] },
    },
    handler: async ({ ctx, body, reply }) => {
      const { save, ...request } = body;
      if (save) requirePermission(ctx.caller, 'diagrams.manage');
      const generated = await generateDrawing(ctx, request);
      if (!save) return generated;
      const { name = generated.title.slice(0, 200), ...rest } = save;
      reply.code(201);
      return await createDiagram(ctx, { ...rest, name, data: { xml: generated.xml } });
    },
  });
}
