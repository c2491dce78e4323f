import Type from 'typebox';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const App = Type.Object({ id: Uuid, name: Type.String() }, closed);
const dateOrFlag = Type.Union([DateOnly, Type.Boolean(), Type.Null()]);

export const EolReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          type: Type.String(),
          subtype: Nullable(Type.String()),
          eol_product: Nullable(Type.String()),
          eol_label: Nullable(
            Type.String({ description: 'What people call the product; null where nothing is known of it' }),
          ),
          eol_cycle: Nullable(Type.String()),
          status: Type.Union(
            ['eol', 'approaching', 'supported', 'unknown'].map((status) => Type.Literal(status)),
          ),
          source: Type.Union([Type.Literal('manual'), Type.Literal('api')], {
            description: '`api`: the linked release cycle; `manual`: the lifecycle of the card',
          }),
          ends_on: Nullable(DateOnly),
          days_left: Nullable(Type.Integer({ description: 'Until `ends_on`; negative when it has passed' })),
          cycle_data: Nullable(
            Type.Object({ releaseDate: Nullable(DateOnly), support: dateOrFlag, eol: dateOrFlag }, closed),
          ),
          lifecycle: Nullable(Type.Record(Type.String(), Type.String())),
          affected_apps: Type.Array(App),
        },
        closed,
      ),
      { description: 'The first to end first' },
    ),
    summary: Type.Object(
      {
        eol: Type.Integer(),
        approaching: Type.Integer(),
        supported: Type.Integer(),
        unknown: Type.Integer(),
        impacted_apps: Type.Integer({ description: 'Applications that use something whose end has come' }),
        approaching_impacted_apps: Type.Integer({
          description: 'Applications that use something whose end approaches',
        }),
        manual: Type.Integer({ description: 'Items whose source is `manual`' }),
      },
      closed,
    ),
    position: Position,
  },
  { $id: 'EolReport', ...closed },
);
