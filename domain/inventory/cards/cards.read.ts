import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { cardText } from './cards.projection.ts';

/** One card with tags and stakeholders. @throws EstateError `not_found`, `forbidden`. */
export async function readCard(ctx: Ctx, id: string): Promise<JsonText> {
  return await cardText(ctx.db, ctx, id);
}
