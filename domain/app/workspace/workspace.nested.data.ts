import Type from 'typebox';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { SessionData } from '../../analysis/architect/architect.input.ts';
import { SESSION_LENGTH } from '../../analysis/assessments/assessments.commands.ts';
import { CONFIG_LENGTH } from '../../collaboration/saved-reports/saved-reports.commands.ts';
import {
  ViewColumns,
  ViewFilters,
  ViewLayout,
  ViewShares,
  ViewSort,
} from '../../collaboration/views/bookmarks.input.ts';
import { PortalConfig, PortalFields, PortalFilters } from '../../exchange/portals/portals.model.ts';
import { AdrEntries } from '../../governance/adr/adr.kind.ts';
import { checkedSoaw, type SoawInput } from '../../governance/soaw/soaw.content.ts';
import { DocumentHead, Sections, VersionHistory } from '../../governance/soaw/soaw.model.ts';
import {
  QuestionKey,
  SurveyFields,
  SurveyFilters,
  SurveyRoles,
} from '../../governance/surveys/surveys.model.ts';
import { cleanTranslations } from '../../inventory/metamodel/metamodel.list.ts';
import { nodeDetails } from '../../inventory/reference/reference.document.ts';
import { type CatalogueNode, MAX_NODES, readNodes } from '../../inventory/reference/reference.rules.ts';
import { CardPermissions, TranslationsSchema } from '../../kernel/metamodel/metamodel.types.ts';
import { cardPermissions } from '../../kernel/permissions/permissions.data.ts';
import { Choice, closed, Key, keyed, Nullable, OpenObject, optional, Uuid } from '../../kernel/shapes.ts';
import { ActionItems, CustomFields } from '../../modelling/bpm/bpm.model.ts';
import { MAX_FIELDS } from '../../modelling/bpm/links.save.ts';
import { MAX_SETTINGS } from '../../modelling/diagrams/diagrams.commands.ts';
import type { NestedRule } from './workspace.fields.ts';

const Moment = Nullable(Type.String({ maxLength: 40 }));
const texts = keyed(100, Type.String());

const translations: NestedRule = {
  schema: TranslationsSchema,
  check(value) {
    const errors: FieldError[] = [];
    cleanTranslations('translations', value, ['label', 'description'], errors);
    return errors;
  },
};

const cardPermissionErrors = (permissions: Record<string, boolean>): FieldError[] =>
  Object.keys(permissions)
    .filter((key) => !Object.hasOwn(cardPermissions, key))
    .map((key) => ({
      field: `permissions.${key.slice(0, 60)}`,
      code: 'unknown_permission',
      message: 'is no card permission',
    }));

/** What people who sign have left on a document. */
const signed: Record<string, NestedRule> = {
  signatories: {
    schema: Type.Array(
      Type.Object(
        {
          user_id: Uuid,
          status: Choice(['pending', 'signed']),
          signed_at: Moment,
          content_hash: Nullable(Type.String({ pattern: '^[0-9a-f]{64}$' })),
        },
        closed,
      ),
      { maxItems: 1_000 },
    ),
  },
  rejection: {
    schema: Type.Object(
      { user_id: Nullable(Uuid), comment: Type.String({ maxLength: 10_000 }), rejected_at: Moment },
      closed,
    ),
  },
};

/** What `checkedSoaw` says of sections, or where it would take something out of them. */
function sectionErrors(sections: NonNullable<SoawInput['sections']>): FieldError[] {
  try {
    const clean = checkedSoaw({ sections }).sections!;
    return Object.entries(sections).flatMap(([number, { content = '' }]) =>
      clean[number]!.content === content
        ? []
        : [
            {
              field: `sections.${number}.content`,
              code: 'unsafe_html',
              message: 'holds HTML that is not taken',
            },
          ],
    );
  } catch (error) {
    if (error instanceof EstateError && error.errors) return error.errors;
    throw error;
  }
}

function nodeErrors(nodes: CatalogueNode[]): FieldError[] {
  const read = readNodes(nodes, 'nodes');
  const n = read.findIndex((node, at) => 'level' in node && node.level !== nodes[at]!.level);
  if (n >= 0) {
    return [{ field: `nodes.${n}.level`, code: 'wrong_level', message: 'is not one below its parent' }];
  }
  return read.filter((node) => 'code' in node);
}

/**
 * What may be nested in the columns of kinds: the shapes that requests are checked by, and what is stored of them. Cards,
 * relations and types have rules of their own; a test finds columns that are in neither.
 */
export const nestedRules: Readonly<Record<string, Readonly<Record<string, NestedRule>>>> = {
  roles: { permissions: { schema: CardPermissions } },
  stakeholder_role_definitions: {
    permissions: { schema: CardPermissions, check: cardPermissionErrors },
    translations,
  },
  resource_types: { translations },
  compliance_regulations: { translations },
  tag_groups: { restrict_to_types: { schema: Type.Array(Key, { maxItems: 1_000 }) } },
  bookmarks: {
    filters: { schema: ViewFilters },
    columns: { schema: ViewColumns },
    sort: { schema: ViewSort },
    layout: { schema: ViewLayout },
    shared_with: { schema: ViewShares },
  },
  saved_reports: {
    config: { schema: OpenObject, most: CONFIG_LENGTH },
    shared_with: { schema: Type.Array(Uuid, { maxItems: 200 }) },
    editors: { schema: Type.Array(Uuid, { maxItems: 200 }) },
  },
  surveys: {
    target_filters: { schema: SurveyFilters },
    target_roles: { schema: SurveyRoles },
    fields: { schema: SurveyFields },
  },
  survey_responses: {
    responses: {
      schema: Type.Record(
        QuestionKey,
        Type.Object(
          {
            current_value: Type.Optional(Type.Unknown()),
            new_value: Type.Optional(Type.Unknown()),
            confirmed: Type.Boolean(),
          },
          closed,
        ),
        { maxProperties: 200 },
      ),
      most: 1_000_000,
    },
  },
  diagrams: {
    settings: { schema: OpenObject, most: MAX_SETTINGS },
    shared_with: { schema: ViewShares },
  },
  adrs: {
    ...signed,
    related_decisions: { schema: AdrEntries },
    decision_makers: { schema: AdrEntries },
    consulted: { schema: AdrEntries },
    informed: { schema: AdrEntries },
  },
  soaws: {
    ...signed,
    document_info: { schema: DocumentHead },
    version_history: { schema: VersionHistory },
    sections: { schema: Sections, check: sectionErrors },
  },
  process_contents: { warnings: { schema: Type.Array(Type.String(), { maxItems: 10_000 }) } },
  process_element_links: { custom_fields: { schema: CustomFields, most: MAX_FIELDS } },
  process_assessments: { action_items: { schema: ActionItems } },
  // of a card that was gone already there is no name
  diagram_drawings: { card_names: { schema: Type.Record(Uuid, Nullable(Type.String())) } },
  assessments: { session_data: { schema: SessionData, most: SESSION_LENGTH } },
  reference_catalogues: {
    nodes: {
      schema: Type.Array(
        Type.Object(
          {
            id: Type.String(),
            parent_id: Nullable(Type.String()),
            level: Type.Integer(),
            names: texts,
            descriptions: texts,
            industry: Type.String(),
            ...optional({ notes: texts, ...nodeDetails }),
          },
          closed,
        ),
        { minItems: 1, maxItems: MAX_NODES },
      ),
      check: nodeErrors,
    },
  },
  web_portals: {
    filters: { schema: PortalFilters },
    display_fields: { schema: PortalFields },
    card_config: { schema: PortalConfig },
  },
};
