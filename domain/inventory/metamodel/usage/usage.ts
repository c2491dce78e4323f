import { notFound } from '../../../../platform/errors.ts';
import type { Ctx } from '../../../kernel/context.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { type FoundConsumers, findConsumers } from './consumers.ts';
import { requireOption } from './counts.ts';

/** The part of the metamodel whose usage is asked for. */
export interface UsageQuery {
  of: 'type' | 'relation_type';
  key: string;
  field_key?: string | undefined;
  option_key?: string | undefined;
}

/** The part itself and, of a type or field, what belongs to it. */
function pathsOf({ of, key, field_key, option_key }: UsageQuery): (path: string) => boolean {
  const prefix = of === 'type' ? '' : 'relation_';
  if (field_key === undefined) {
    const parts = ['field', 'option', 'subtype', 'role'].map((kind) => `${prefix}${kind}:${key}.`);
    return (path) => path === `${of}:${key}` || parts.some((part) => path.startsWith(part));
  }
  const option = `${prefix}option:${key}.${field_key}.`;
  if (option_key !== undefined) return (path) => path === `${option}${option_key}`;
  return (path) => path === `${prefix}field:${key}.${field_key}` || path.startsWith(option);
}

/**
 * Which stored objects use a type, a field or an option, and how many more that the caller may not read.
 * @throws EstateError `not_found`, `validation_failed`.
 */
export async function readUsage(
  ctx: Ctx,
  asked: UsageQuery,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<FoundConsumers & { total: number; page: number; page_size: number }> {
  requirePart(ctx.metamodel, asked);
  const isAsked = pathsOf(asked);
  const found = await findConsumers(ctx, ctx.db, ctx.metamodel, (references) => [
    ...new Set([...references].flatMap((paths) => paths.filter(isAsked))),
  ]);
  const { consumers, hidden } = found;
  const shown = consumers.slice((page - 1) * size, page * size);
  return { consumers: shown, total: consumers.length, hidden, page, page_size: size };
}

function requirePart(
  { cardTypes, relationTypes }: Metamodel,
  { of, key, field_key, option_key }: UsageQuery,
): void {
  const type = of === 'type' ? cardTypes.get(key) : relationTypes.get(key);
  if (!type) throw notFound(of === 'type' ? 'card type' : 'relation type', key);
  requireOption(type, field_key, option_key);
}
