import Type from 'typebox';
import { embed, query } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import type { RoleRow as StoredRoleRow } from '../../access/roles.model.ts';
import { checkedUrl } from '../../collaboration/documents/documents.ts';
import { notPublicErrors } from '../../exchange/portals/portals.commands.ts';
import { createFilterSchema, type FilterTagGroup } from '../../inventory/filters/filters.schema.ts';
import { type CardTypeInput, cleanCardType } from '../../inventory/metamodel/card-types/card-types.rules.ts';
import {
  cleanRelationType,
  type RelationTypeInput,
} from '../../inventory/metamodel/relation-types/relation-types.rules.ts';
import type { Caller } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { compileMetamodel, type Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import {
  AttributeSchema,
  DeprecationSchema,
  type FieldOption,
  Label,
  type RelationAttribute,
  RoleKey,
  type Section,
  SectionSchema,
  type Subtype,
  SubtypeSchema,
  TranslationsSchema,
  TypeKey,
} from '../../kernel/metamodel/metamodel.types.ts';
import { missingFrom, type PermissionMap } from '../../kernel/permissions/grants.ts';
import { appPermissions, permissionKeys } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Nullable, OpenObject } from '../../kernel/shapes.ts';
import {
  checkAttachments,
  checkContents,
  checkDrawings,
  checkElements,
  checkFiles,
  checkShown,
  checkThumbnails,
} from './transfer.contents.ts';
import { skipTooDeep } from './transfer.depth.ts';
import { skipMatching } from './transfer.diff.ts';
import { checkFormulas } from './transfer.formulas.ts';
import { checkKeys } from './transfer.references.ts';
import { type Checking, errorsOf, knownRows, reasonOf, skipInvalid } from './transfer.rows.ts';
import type { Staging } from './transfer.stage.ts';
import {
  cardErrors,
  fieldErrors,
  fieldRules,
  nestedErrors,
  relationErrors,
  shapeErrors,
} from './workspace.fields.ts';
import { nestedRules } from './workspace.nested.data.ts';

const deprecation = Type.Optional(Nullable(DeprecationSchema));
const CardTypeRow = Type.Object({
  key: TypeKey,
  label: Label,
  subtypes: Type.Array(SubtypeSchema, { maxItems: 200 }),
  fields_schema: Type.Array(SectionSchema, { maxItems: 100 }),
  section_config: OpenObject,
  translations: TranslationsSchema,
  deprecation,
});
const RelationTypeRow = Type.Object({
  key: TypeKey,
  label: Label,
  source_type_key: TypeKey,
  target_type_key: TypeKey,
  attributes_schema: Type.Array(AttributeSchema, { maxItems: 200 }),
  translations: TranslationsSchema,
  deprecation,
});
const RoleRow = Type.Object({ card_type_key: TypeKey, key: RoleKey, label: Label });

/** The errors of the definition of a card type, as in its own operation. */
export function cardTypeErrors(row: StoredRow): FieldError[] {
  const errors = shapeErrors(CardTypeRow, row);
  if (errors.length > 0) return errors;
  const {
    key,
    label,
    translations,
    fields_schema,
    subtypes,
    section_config,
    deprecation = null,
  } = row as unknown as CardTypeInput;
  const input = { key, label, translations, fields_schema, subtypes, section_config } as CardTypeInput;
  // a removal that the archive has announced may have come since
  const before = { subtypes: [], fields_schema: input.fields_schema!, section_config: {}, deprecation };
  return cleanCardType({ ...input, deprecation }, before).errors;
}

/** The errors of the definition of a relation type; `types` are the card types after the import. */
export function relationTypeErrors(row: StoredRow, types: ReadonlySet<string>): FieldError[] {
  const errors = shapeErrors(RelationTypeRow, row);
  if (errors.length > 0) return errors;
  for (const end of ['source_type_key', 'target_type_key'] as const) {
    if (!types.has(row[end] as string)) {
      errors.push({ field: end, code: 'unknown_type', message: 'is no card type' });
    }
  }
  const attributes = row.attributes_schema as RelationAttribute[];
  const { key, translations, deprecation = null } = row as unknown as RelationTypeInput;
  const input = { key: key!, translations, attributes_schema: attributes, deprecation };
  errors.push(...cleanRelationType(input, { attributes_schema: attributes, deprecation }).errors);
  return errors;
}

/** The errors of the definition of a stakeholder role. */
const stakeholderRoleErrors = (row: StoredRow): FieldError[] => shapeErrors(RoleRow, row);

const keysOf = (items: readonly { key: string }[] = []): Set<string> => new Set(items.map(({ key }) => key));
const lost = (before: ReadonlySet<string>, after: ReadonlySet<string>): string | undefined =>
  [...before].find((key) => !after.has(key));

type Declared = { key: string; type: string; options?: FieldOption[] };

function narrowedFields(before: Declared[], after: Declared[]): string | undefined {
  for (const was of before) {
    const is = after.find(({ key }) => key === was.key);
    if (!is) return `the field ${was.key} would go`;
    if (is.type !== was.type) return `the field ${was.key} would be ${is.type}, not ${was.type}`;
    const option = lost(keysOf(was.options), keysOf(is.options));
    if (option !== undefined) return `the option ${option} of ${was.key} would go`;
  }
  return undefined;
}

/** The stored values that would become invalid if a type were defined as in the archive; undefined if none. */
export function findNarrowing(before: StoredRow, after: StoredRow): string | undefined {
  if ('attributes_schema' in before) {
    const ends = ['source_type_key', 'target_type_key', 'cardinality'].find(
      (end) => before[end] !== after[end],
    );
    if (ends !== undefined) return `${ends} would be another`;
    return narrowedFields(before.attributes_schema as Declared[], after.attributes_schema as Declared[]);
  }
  const fields = (row: StoredRow) => (row.fields_schema as Section[]).flatMap((section) => section.fields);
  const subtype = lost(keysOf(before.subtypes as Subtype[]), keysOf(after.subtypes as Subtype[]));
  return subtype === undefined
    ? narrowedFields(fields(before), fields(after))
    : `the subtype ${subtype} would go`;
}

/**
 * Checks the rights to import a workspace. An archive contains every kind of object, also in the names of others (comments,
 * signatures, stakeholders), so that every permission is needed.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export function requireTransferRights(caller: Caller): void {
  requirePermission(caller, 'admin.import_workspace');
  requirePermission(caller, 'costs.view');
  for (const permission of permissionKeys) requirePermission(caller, permission);
}

/** The stored state of a role. */
export type StoredRole = Pick<StoredRoleRow, 'key' | 'is_system' | 'is_default' | 'is_archived'>;

/** Validates a role: users cannot grant permissions that they lack, or lock themselves out. */
export function roleErrors(caller: Caller, content: StoredRow, here: StoredRole | null): FieldError[] {
  if (here?.is_system) {
    return [{ field: '', code: 'system_role', message: 'The role belongs to the system.' }];
  }
  if (content.is_archived === true && here !== null && !here.is_archived) {
    const message = here.is_default ? 'is the default' : here.key === caller.role ? 'is your own' : undefined;
    if (message) return [{ field: 'is_archived', code: 'conflict', message: `of a role that ${message}` }];
  }
  const permissions = (content.permissions ?? {}) as PermissionMap;
  // Including the wildcard: the only role with it is a system role.
  const unknown = Object.keys(permissions).find((key) => !Object.hasOwn(appPermissions, key));
  if (unknown !== undefined) {
    return [
      { field: 'permissions', code: 'unknown_permission', message: `contains ${unknown.slice(0, 60)}` },
    ];
  }
  const missing = missingFrom(caller, permissions);
  return missing
    ? [{ field: 'permissions', code: 'forbidden', message: `need ${missing}, which you lack` }]
    : [];
}

/** SQL of the type of the card that a column names, in the workspace or the archive. */
const typeOf = (column: string): string =>
  `coalesce((select c.type from cards c where c.id = (s.content ->> '${column}')::uuid),
    (select x.content ->> 'type' from workspace_transfer_rows x
     where x.transfer_id = s.transfer_id and x.kind = 'cards' and x.ref = s.content ->> '${column}'))`;

const checks: Record<string, (checking: Checking) => Promise<void>> = {
  async roles(checking) {
    const here: StoredRole[] = await checking
      .db('roles')
      .select('key', 'is_system', 'is_default', 'is_archived');
    const byKey = new Map(here.map((role) => [role.key, role]));
    await skipInvalid(checking, 'roles', (row) =>
      roleErrors(checking.caller, row, byKey.get(row.key as string) ?? null),
    );
  },
  async card_types(checking) {
    const used = 'exists (select from cards c where c.type = t.key)';
    const here = await definitions(checking, 'card_types', used);
    await skipInvalid(checking, 'card_types', (row) => [...cardTypeErrors(row), ...narrowing(here, row)]);
  },
  async relation_types(checking) {
    const defined = await knownRows<{ key: string }>(checking, 'card_types');
    const types = new Set(defined.map(({ key }) => key));
    const used = 'exists (select from relations r where r.type = t.key)';
    const here = await definitions(checking, 'relation_types', used);
    await skipInvalid(checking, 'relation_types', (row) => [
      ...relationTypeErrors(row, types),
      ...narrowing(here, row),
    ]);
  },
  async stakeholder_role_definitions(checking) {
    await skipInvalid(checking, 'stakeholder_role_definitions', stakeholderRoleErrors);
    checking.metamodel = await expectedMetamodel(checking);
  },
  files: checkFiles,
  file_attachments: checkAttachments,
  async cards(checking) {
    const types = checking.metamodel!.cardTypes;
    await skipInvalid(
      checking,
      'cards',
      (row, { type: parentType }) => {
        const errors = cardErrors(types, row);
        if (errors.length > 0 || (row.parent_id ?? null) === null) return errors;
        const nests = parentType === row.type && types.get(row.type as string)!.has_hierarchy;
        return nests
          ? []
          : [{ field: 'parent_id', code: 'parent_type', message: 'is no card that it may lie below' }];
      },
      `, ${typeOf('parent_id')} as type`,
    );
    await skipTooDeep(checking);
  },
  async relations(checking) {
    await skipInvalid(
      checking,
      'relations',
      (row, { source, target }) => relationErrors(checking.metamodel!.relationTypes, row, { source, target }),
      `, ${typeOf('source_id')} as source, ${typeOf('target_id')} as target`,
    );
  },
  async card_tags(checking) {
    const reason = { code: 'single_tag', message: 'The group allows one tag, and the card has another.' };
    await skipMatching(checking, 'card_tags', reason)`where s.action = 'create' and exists (
         select from card_tags k join tags o on o.id = k.tag_id join tag_groups g on g.id = o.tag_group_id
         left join tags n on n.id = (s.n).tag_id
         where k.card_id = (s.n).card_id and g.mode = 'single'
           and g.id = coalesce(n.tag_group_id, (select (x.content ->> 'tag_group_id')::uuid
             from workspace_transfer_rows x
             where x.transfer_id = s.transfer_id and x.kind = 'tags' and x.ref = s.content ->> 'tag_id')))`;
  },
  async stakeholders(checking) {
    const types = checking.metamodel!.cardTypes;
    // including archived ones
    const table = 'stakeholder_role_definitions';
    const defined = await knownRows<{ card_type_key: string; key: string }>(checking, table);
    const roles = new Set(defined.map(({ card_type_key, key }) => `${card_type_key}/${key}`));
    await skipInvalid(
      checking,
      'stakeholders',
      ({ role }, { type }) =>
        type === null || !types.has(type) || roles.has(`${type}/${role}`)
          ? []
          : [{ field: 'role', code: 'unknown_role', message: `is no role on cards of the type ${type}` }],
      `, ${typeOf('card_id')} as type`,
    );
  },
  async comments(checking) {
    await skipInvalid(
      checking,
      'comments',
      ({ card_id, content, deleted_at }, { type: above }) => {
        if (above !== null && above !== card_id) {
          return [{ field: 'parent_id', code: 'unknown_value', message: 'is no comment on this card' }];
        }
        // only deleted comments have no text
        const isBlank = String(content).trim() === '' && (deleted_at ?? null) === null;
        return isBlank ? [{ field: 'content', code: 'required', message: 'must not be blank' }] : [];
      },
      `, coalesce((select x.content ->> 'card_id' from workspace_transfer_rows x where x.transfer_id = s.transfer_id
           and x.kind = 'comments' and x.ref = s.content ->> 'parent_id'),
         (select c.card_id::text from comments c where c.id = (s.content ->> 'parent_id')::uuid)) as type`,
    );
  },
  documents: (checking) =>
    skipInvalid(checking, 'documents', ({ url }) => errorsOf(() => checkedUrl(url as string | null))),
  diagram_drawings: checkDrawings,
  diagrams: checkThumbnails,
  process_contents: checkContents,
  process_content_elements: checkElements,
  process_diagrams: (checking) => checkShown(checking, 'process_diagrams'),
  process_flow_versions: (checking) => checkShown(checking, 'process_flow_versions'),
  adrs: (checking) => skipSigned(checking, 'adrs'),
  soaws: (checking) => skipSigned(checking, 'soaws'),
  calculations: checkFormulas,
  async web_portals(checking) {
    const metamodel = checking.metamodel!;
    const schema = createFilterSchema(metamodel, await knownRows<FilterTagGroup>(checking, 'tag_groups'));
    await skipInvalid(checking, 'web_portals', (row) => notPublicErrors(metamodel, schema, row));
  },
};

/** The error of a signed document. */
export const signedDocumentError: FieldError = {
  code: 'document_signed',
  field: 'status',
  message: 'is signed here: the document stays as it is',
};

/** Skips documents that are signed here. */
async function skipSigned(checking: Staging, table: 'adrs' | 'soaws'): Promise<void> {
  await skipMatching(checking, table, reasonOf([signedDocumentError]))`
     join ${embed(table)} t on t.id = (s.n).id where t.status = 'signed'`;
}

/** Validates the rows of a kind like single writes, and by the rules of the kind. */
export async function checkRows(checking: Checking, kind: string): Promise<void> {
  const fields = fieldRules[kind];
  if (fields) await skipInvalid(checking, kind, (row) => fieldErrors(fields, row));
  const nested = nestedRules[kind];
  if (nested) await skipInvalid(checking, kind, (row) => nestedErrors(nested, row));
  await checkKeys(checking, kind);
  await checks[kind]?.(checking);
}

/** Definitions in use, by key. */
async function definitions({ db }: Staging, table: string, used: string): Promise<Map<unknown, StoredRow>> {
  const rows = await query(db).rows`select to_jsonb(t) as row from ${embed(table)} t where ${embed(used)}`;
  return new Map(rows.map(({ row }: { row: StoredRow }) => [row.key, row]));
}

function narrowing(here: ReadonlyMap<unknown, StoredRow>, row: StoredRow): FieldError[] {
  const before = here.get(row.key);
  const loss = before && cardTypeOrRelationType(row) ? findNarrowing(before, row) : undefined;
  return loss
    ? [{ field: '', code: 'values_do_not_fit', message: `Values here would lose their place: ${loss}.` }]
    : [];
}

/** Whether a definition has the columns that are compared; others are skipped already. */
const cardTypeOrRelationType = (row: StoredRow): boolean =>
  Array.isArray(row.attributes_schema) || (Array.isArray(row.fields_schema) && Array.isArray(row.subtypes));

/** The metamodel after the import: the stored one, overridden by the archive. */
async function expectedMetamodel({ db, transferId }: Staging): Promise<Metamodel> {
  const merged = async (table: string, key: string) => {
    const rows = await query(db).rows`select coalesce(to_jsonb(t), '{}') || coalesce(s.content, '{}') as row
       from ${embed(table)} t full join (
         select content from workspace_transfer_rows
         where transfer_id = ${transferId}::uuid and kind = '${embed(table)}'
         and action in ('create', 'update')) s
       on ${embed(key)}`;
    return rows.map(({ row }: { row: never }) => row);
  };
  const byKey = `t.key = s.content ->> 'key'`;
  return compileMetamodel({
    version: 0,
    cardTypes: await merged('card_types', byKey),
    relationTypes: await merged('relation_types', byKey),
    roles: await merged(
      'stakeholder_role_definitions',
      `${byKey} and t.card_type_key = s.content ->> 'card_type_key'`,
    ),
    tagGroups: [],
  });
}
