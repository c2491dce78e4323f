import Type, { type TProperties } from 'typebox';
import { Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Name = Type.String();
const object = (members: TProperties) => Type.Object(members, closed);
const Line = object({ id: Uuid, name: Name });
const Subtype = Nullable(Type.String());
const answer = ($id: string, members: TProperties) =>
  Type.Object({ ...members, position: Position }, { $id, ...closed });
const Counts = (unknown: boolean) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: unknown ? 'By value; `unknown` for processes without one' : 'By value',
  });

export const BpmDashboardSchema = answer('BpmDashboard', {
  total_processes: Count,
  by_process_type: Counts(false),
  by_maturity: Counts(true),
  by_automation: Counts(true),
  by_risk: Counts(true),
  top_risk_processes: Type.Array(
    object({ id: Uuid, name: Name, risk: Type.String(), maturity: Type.String() }),
  ),
  diagram_coverage: object({
    with_diagram: Count,
    total: Count,
    percentage: Type.Number({ minimum: 0, maximum: 100 }),
  }),
});

const matrix = { rows: Type.Array(Line), columns: Type.Array(Line) };
export const CapabilityProcessMatrixSchema = answer('CapabilityProcessMatrix', {
  ...matrix,
  cells: Type.Array(object({ process_id: Uuid, capability_id: Uuid, attributes: OpenObject })),
});
export const ProcessApplicationMatrixSchema = answer('ProcessApplicationMatrix', {
  ...matrix,
  cells: Type.Array(
    object({
      process_id: Uuid,
      application_id: Nullable(Uuid),
      source: Type.Union([Type.Literal('relation'), Type.Literal('element')]),
      attributes: Type.Optional(OpenObject),
      element_name: Type.Optional(Type.String()),
      element_type: Type.Optional(Type.String()),
    }),
  ),
});
export const ProcessDependenciesSchema = answer('ProcessDependencies', {
  nodes: Type.Array(object({ id: Uuid, name: Name, subtype: Subtype, attributes: OpenObject })),
  edges: Type.Array(object({ source: Uuid, target: Uuid, id: Uuid })),
});
export const BpmCapabilityHeatmapSchema = answer('BpmCapabilityHeatmap', {
  metric: Type.String(),
  items: Type.Array(
    object({
      id: Uuid,
      name: Name,
      parent_id: Nullable(Uuid),
      level: Type.String({ description: 'L1 to L5' }),
      metric_value: Type.Number(),
      attributes: OpenObject,
    }),
  ),
});
export const ElementApplicationMapSchema = answer('ElementApplicationMap', {
  items: Type.Array(
    object({
      application_id: Nullable(Uuid),
      application_name: Nullable(Type.String()),
      elements: Type.Array(
        object({
          element_id: Uuid,
          element_name: Type.String(),
          element_type: Type.String(),
          lane_name: Nullable(Type.String()),
          process_id: Uuid,
          process_name: Name,
        }),
      ),
    }),
  ),
});

const card = { id: Uuid, name: Name, subtype: Subtype, parent_id: Nullable(Uuid) };
export const ProcessMapSchema = answer('ProcessMap', {
  items: Type.Array(
    object({
      ...card,
      attributes: OpenObject,
      lifecycle: Nullable(Lifecycle),
      app_count: Count,
      total_cost: Type.Optional(Type.Number({ description: 'Left out without `costs.view`' })),
      apps: Type.Array(
        object({
          id: Uuid,
          name: Name,
          subtype: Subtype,
          attributes: OpenObject,
          lifecycle: Nullable(Lifecycle),
          rel_attributes: OpenObject,
        }),
      ),
      data_objects: Type.Array(Line),
      org_ids: Type.Array(Uuid),
      ctx_ids: Type.Array(Uuid),
      has_diagram: Type.Boolean(),
      element_count: Count,
    }),
  ),
  organizations: Type.Array(Line),
  business_contexts: Type.Array(Line),
});
export const ValueStreamMatrixSchema = answer('ValueStreamMatrix', {
  organizations: Type.Array(object(card)),
  contexts: Type.Array(
    object({
      ...card,
      attributes: OpenObject,
      sort_order: Nullable(Type.Number()),
      column_width: Nullable(Type.Number()),
    }),
  ),
  cells: Type.Record(
    Type.String(),
    Type.Record(
      Type.String(),
      Type.Array(
        object({
          ...card,
          attributes: OpenObject,
          lifecycle: Nullable(Lifecycle),
          apps: Type.Array(object({ id: Uuid, name: Name, subtype: Subtype })),
        }),
      ),
    ),
    { description: 'By organisation, then by business context or `__none__`' },
  ),
  unassigned: Type.Array(object({ id: Uuid, name: Name, subtype: Subtype, attributes: OpenObject })),
});
