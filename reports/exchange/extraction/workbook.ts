import { type Labels, labelOrKey, labelsOf } from '../../../domain/exchange/imports/imports.labels.ts';
import { isReservedSheet } from '../../../domain/exchange/imports/imports.read-xlsx.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { canonicalLanguage, DEFAULT_LANGUAGE } from '../../../domain/kernel/metamodel/languages.ts';
import type {
  CardType,
  CompiledField,
  RelationType,
} from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { labelledMetamodel } from '../../../domain/kernel/metamodel/metamodel.labels.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { loadSettings } from '../../../domain/kernel/settings/settings.read.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { BinaryTable, Column } from '../../kernel/formats/formats.types.ts';
import { isSheetName } from '../../kernel/formats/xlsx.package.ts';
import { attributeColumn, type ExtractionPlan, relationColumns, seesSomeCosts } from './extraction.plan.ts';
import { cardSource, readRows, relationSource } from './extraction.rows.ts';
import { type FormField, type FormTexts, formOf } from './workbook.form.ts';

const ATTRIBUTES = 'attributes.';

/** The tables of a workbook that people edit and import again: one of each card type, and one of relations. */
export async function workbookTables(
  snapshot: Snapshot,
  ctx: Ctx,
  plan: ExtractionPlan,
): Promise<BinaryTable[]> {
  const { headers = 'keys' } = plan.request;
  const language = canonicalLanguage(plan.request.language ?? '') ?? DEFAULT_LANGUAGE;
  const { values } = await loadSettings(ctx.db);
  const texts = { headers, language, currency: values.currency };
  const tables = await cardTables(snapshot, ctx, plan, texts);
  if (may(ctx.caller, 'relations.view')) tables.push(await relationTable(snapshot, ctx, plan, texts));
  return tables;
}

async function cardTables(
  snapshot: Snapshot,
  ctx: Ctx,
  { cards, columns, order }: ExtractionPlan,
  given: Omit<FormTexts, 'labels'>,
): Promise<BinaryTable[]> {
  const labels = labelsOf(ctx.metamodel, 'cards');
  const named = labelledMetamodel(ctx.metamodel, given.language).cardTypes;
  const costs = await seesSomeCosts(ctx);
  const used = new Set<string>();
  const tables: BinaryTable[] = [];
  for (const key of cards.types) {
    const type = named.get(key)!;
    const own = columnsOfType(columns, type, costs);
    const source = cardSource(ctx, { ...cards, types: [key] });
    const table = await readRows(snapshot, order ? { ...source, order } : source, own);
    const form = formOf(own, {
      ...given,
      labels,
      kind: 'cards',
      types: new Map([[key, type.label]]),
      subtypes: new Map(type.subtypes.map((subtype) => [subtype.key, subtype.label])),
      findSubtype: (label) => labels.subtype(key, label),
      field: (name) => fieldOf(type.fields.get(name), (label) => labels.option(key, name, label)),
    });
    const name = sheetOf(key, given.headers === 'keys' ? key : type.label, labels.type, used);
    tables.push({ ...table, name, form });
  }
  return tables;
}

const fieldOf = (
  field: CompiledField | undefined,
  findOption: FormField['findOption'],
): FormField | undefined => field && { ...field, findOption };

/** The columns of one card type; those of attributes have the type that they have there, where others have another. */
function columnsOfType(columns: readonly Column[], type: CardType, costs: boolean): Column[] {
  return columns.flatMap((column) => {
    const { header } = column;
    if (header.startsWith(ATTRIBUTES)) {
      const field = type.fields.get(header.slice(ATTRIBUTES.length));
      return field && (costs || field.type !== 'cost') ? [attributeColumn(field)] : [];
    }
    const isOwn = header.startsWith('parent_')
      ? type.has_hierarchy
      : header !== 'subtype' || type.subtypes.length > 0;
    return isOwn ? [column] : [];
  });
}

/** A field of several relation types, whose options are all that one of them has. */
function sharedField(
  name: string,
  types: readonly RelationType[],
  option: Labels['option'],
): FormField | undefined {
  const having = types.flatMap((type) => type.fields.get(name) ?? []);
  const first = having[0];
  if (!first) return undefined;
  const findOption = (label: string) => {
    const found = new Set(types.flatMap(({ key }) => option(key, name, label) ?? []));
    return found.size === 1 ? [...found][0] : undefined;
  };
  const optionLabels = new Map(having.flatMap((field) => [...field.optionLabels]));
  return { ...first, readonly: having.every(({ readonly }) => readonly), optionLabels, findOption };
}

/** The name of a type's sheet, by which an import finds the type again; else its key, as far as it fits. */
function sheetOf(
  key: string,
  label: string,
  find: (label: string) => string | undefined,
  used: Set<string>,
): string {
  const isFree = (name: string) =>
    isSheetName(name) && !isReservedSheet(name) && !used.has(name.toLowerCase()) && find(name) === key;
  const name = [labelOrKey(find, key, label), `${label} (${key})`, key].find(isFree) ?? key;
  used.add(name.toLowerCase());
  return name;
}

/** The relations between the cards, with the names of their ends. */
async function relationTable(
  snapshot: Snapshot,
  ctx: Ctx,
  { relations }: ExtractionPlan,
  given: Omit<FormTexts, 'labels'>,
): Promise<BinaryTable> {
  const { types } = relations;
  const labels = labelsOf(ctx.metamodel, 'relations');
  const named = labelledMetamodel(ctx.metamodel, given.language).relationTypes;
  const columns = relationColumns(ctx, types, 'report', await seesSomeCosts(ctx)).filter(
    ({ header }) => !header.endsWith('_number'),
  );
  const table = await readRows(snapshot, relationSource(ctx, relations), columns);
  const isGerman = given.headers === 'labels' && given.language.startsWith('de');
  const form = formOf(columns, {
    ...given,
    labels,
    kind: 'relations',
    types: new Map(types.map((key) => [key, named.get(key)!.label])),
    subtypes: new Map(),
    findSubtype: () => undefined,
    field: (name) =>
      sharedField(
        name,
        types.map((key) => named.get(key)!),
        labels.option,
      ),
  });
  return { ...table, name: isGerman ? 'Beziehungen' : 'Relations', form };
}
