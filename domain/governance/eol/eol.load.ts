import { invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { BadFacts, readProduct } from './eol.document.ts';
import { saveFacts } from './eol.store.ts';
import type { ProductFacts } from './eol.types.ts';

export interface LoadedFacts {
  products: number;
  cycles: number;
  /** Products whose facts differ from what was known. */
  changed: number;
}

/**
 * Loads the facts of a document of products in the form of the public API, all of them or, when one does not fit, none.
 * @throws EstateError `forbidden`, `validation_failed` saying what does not fit.
 */
export async function loadFacts(ctx: Ctx, products: unknown[]): Promise<LoadedFacts> {
  requirePermission(ctx.caller, 'admin.settings');
  const facts = products.map(readGiven);
  const twice = facts.findIndex(({ name }, n) => facts.findIndex((other) => other.name === name) < n);
  if (twice >= 0) {
    throw invalidField(`result.${twice}.name`, 'duplicate', 'names a product that stands further up');
  }
  return await command(ctx, async (work) => {
    const { changed } = await saveFacts(
      work,
      facts.map((each) => ({ facts: each })),
      'file',
    );
    const cycles = facts.reduce((sum, each) => sum + each.cycles.length, 0);
    return { products: facts.length, cycles, changed: changed.length };
  });
}

function readGiven(product: unknown, n: number): ProductFacts {
  try {
    return readProduct(product, `result.${n}`);
  } catch (error) {
    if (!(error instanceof BadFacts)) throw error;
    const [field, ...rest] = error.message.split(' ');
    throw invalidField(field!, 'bad_facts', rest.join(' '));
  }
}
