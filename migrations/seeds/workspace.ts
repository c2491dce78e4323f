import {
  cardTypeSeeds,
  relationTypeSeeds,
  stakeholderRoleSeeds,
} from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { roleSeeds } from '../../domain/kernel/permissions/permissions.data.ts';
import { type Db, inTransaction } from '../../platform/database.ts';
import { addGerman } from './german.ts';
import { addPlurals } from './plurals.ts';

const json = JSON.stringify;

/** Fills an empty workspace with its roles and built-in metamodel; does nothing when that is there. */
export async function seedWorkspace(db: Db): Promise<void> {
  await inTransaction(db, async (trx) => {
    await trx.raw('lock table roles in exclusive mode');
    if (await trx('roles').first()) return;
    await trx('roles').insert(
      roleSeeds.map((role) => ({
        key: role.key,
        label: role.label,
        color: role.color,
        is_system: role.isSystem,
        is_default: role.isDefault,
        sort_order: role.sortOrder,
        permissions: json(
          role.permissions === '*'
            ? { '*': true }
            : Object.fromEntries(role.permissions.map((key) => [key, true])),
        ),
      })),
    );
    await trx('card_types').insert(
      cardTypeSeeds.map(({ stakeholder_roles: _, ...type }) => ({
        ...type,
        subtypes: json(type.subtypes),
        fields_schema: json(type.fields_schema),
        built_in: true,
      })),
    );
    await trx('stakeholder_role_definitions').insert(
      cardTypeSeeds.flatMap((type) =>
        type.stakeholder_roles.map((role, sort_order) => ({
          card_type_key: type.key,
          ...role,
          sort_order,
          permissions: json(
            Object.fromEntries((stakeholderRoleSeeds[role.key] ?? []).map((key) => [key, true])),
          ),
        })),
      ),
    );
    await trx('relation_types').insert(
      relationTypeSeeds.map((type) => ({
        ...type,
        attributes_schema: json(
          type.attributes_schema.map(({ options, ...attribute }) => ({
            ...attribute,
            built_in: true,
            ...(options ? { options: options.map((option) => ({ ...option, built_in: true })) } : {}),
          })),
        ),
        built_in: true,
      })),
    );
    await addGerman(trx);
    await addPlurals(trx);
  });
}
