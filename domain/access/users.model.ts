import { Model, type RelationMappings } from 'objection';
import { Role } from './roles.model.ts';

/** A user. Queries are always bound to the caller's transaction or pool: `UserModel.query(sql)`. */
export class UserModel extends Model {
  static override readonly tableName = 'users';

  declare id: string;
  declare email: string;
  declare display_name: string;
  /** The role's key. */
  declare role: string;
  declare password_hash: string | null;
  declare is_active: boolean;
  declare locale: string;
  declare ui_preferences: Record<string, unknown>;
  /** Part of access tokens; increasing it revokes them all. */
  declare token_version: number;
  declare failed_login_attempts: number;
  declare locked_until: Date | null;
  declare updated_at: Date;
  /** Filled by `withGraphFetched('roleRow')`. */
  declare roleRow?: Role;

  static override get relationMappings(): RelationMappings {
    return {
      roleRow: {
        relation: Model.BelongsToOneRelation,
        modelClass: Role,
        join: { from: 'users.role', to: 'roles.key' },
      },
    };
  }
}
