import Type, { type TString } from 'typebox';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { CardType, CompiledField } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import { forbidden, may } from '../../domain/kernel/permissions/policy.ts';
import { OptionalText } from '../../domain/kernel/shapes.ts';
import { invalidField } from '../../platform/errors.ts';

/** What a parameter names, as the API description has it for pages that offer choices. */
interface Choices {
  of: 'types' | 'fields' | 'fields or related types' | 'values';
  /** The type whose fields or related types are meant; default: that of the parameter `type`. */
  card_type?: string;
  /** Types of the fields; default: all. */
  field_types?: readonly string[];
  /** Of which several can be given, comma-separated. */
  values?: readonly string[];
}

/** The member of a parameter's schema that declares its choices. */
export const choices = (declared: Choices): { 'x-choices': Choices } => ({ 'x-choices': declared });

/** The choices of a parameter that names a field with options. */
export const optionFields = (card_type?: string): { 'x-choices': Choices } =>
  choices({ of: 'fields', field_types: ['single_select'], ...(card_type && { card_type }) });

/** A parameter that names a card type. */
export const typeParam = (fallback: string): TString =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    default: fallback,
    description: 'Key of a card type',
    ...choices({ of: 'types' }),
  });

/** A parameter that names the type of related cards; without it the report chooses one. */
export const relatedTypeParam = (usual: string) =>
  OptionalText(
    100,
    `Key of a card type; default: ${usual} if there are such relations, else the type with the most`,
    choices({ of: 'types' }),
  );

/** A parameter that names a field of the report's card type. */
export const fieldParam = (fallback: string, what: string, field_types: readonly string[]): TString =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    default: fallback,
    description: what,
    ...choices({ of: 'fields', field_types }),
  });

/** The visible type of that key. @throws EstateError 422 naming the parameter. */
export function typeOf(ctx: Ctx, param: string, key: string): CardType {
  const type = ctx.metamodel.cardTypes.get(key);
  if (!type || type.is_hidden) throw invalidField(param, 'unknown_value', `"${key}" is not a card type`);
  return type;
}

/** A field of a type. @throws EstateError 422 naming the parameter; `forbidden` for costs without `costs.view`. */
export function fieldOf(ctx: Ctx, param: string, type: CardType, key: string): CompiledField {
  const field = type.fields.get(key);
  if (!field) throw invalidField(param, 'unknown_value', `"${key}" is not a field of ${type.key}`);
  if (field.type === 'cost' && !may(ctx.caller, 'costs.view')) throw forbidden('costs.view');
  return field;
}

/** Refuses a key that does not name a select field of a type. @throws EstateError like {@link fieldOf}. */
export function checkOptionField(ctx: Ctx, param: string, type: CardType, key: string | undefined): void {
  if (key !== undefined && fieldOf(ctx, param, type, key).type !== 'single_select')
    throw invalidField(param, 'unknown_value', `"${key}" is not a field with options of which one is chosen`);
}

/** A cost field of a type. @throws EstateError like {@link fieldOf}. */
export function costFieldOf(ctx: Ctx, param: string, type: CardType, key: string): CompiledField {
  const field = fieldOf(ctx, param, type, key);
  if (field.type !== 'cost') throw invalidField(param, 'unknown_value', `"${key}" is not a cost field`);
  return field;
}
