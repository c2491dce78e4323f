import Type from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import {
  type SettingKey,
  type SettingValues,
  settingDefaults,
} from '../../kernel/settings/settings.defaults.ts';
import { closed, oneOf, Uuid } from '../../kernel/shapes.ts';
import { imageTypes, MAX_IMAGE } from '../settings/settings.images.ts';
import { type SettingSurroundings, settingFaults } from '../settings/settings.rules.ts';
import { shapeFaults } from './workspace.shapes.ts';

/**
 * Whether a setting goes with the workspace. What says where mails, logins and questions go, or who is let in, stays: its
 * secret does, and the secret of one server must never be sent to another.
 */
const goes: Record<SettingKey, boolean> = {
  currency: true,
  date_format: true,
  app_title: true,
  login_branding: true,
  bpm_enabled: true,
  ppm_enabled: true,
  grc_enabled: true,
  ai_analysis_enabled: true,
  file_uploads_enabled: true,
  bpm_row_order: true,
  fiscal_year_start: true,
  archive_retention_days: true,
  principles_display: true,
  notification_digest_minutes: true,
  logo: true,
  favicon: true,
  // how long the service keeps things, and whom it lets in and calls, is decided where it runs
  retention: false,
  registration_enabled: false,
  registration_policy: false,
  mcp_enabled: false,
  two_factor_required: false,
  api_token_max_days: false,
  cors_origins: false,
  eol_source: false,
  email: false,
  sso: false,
  ai: false,
};

/** The settings that go with the workspace. */
export const movedSettings = (Object.keys(goes) as SettingKey[]).filter((key) => goes[key]);

/** What is wrong with a setting of an archive. */
export function movedFaults(key: string, value: unknown, around: SettingSurroundings): FieldError[] {
  if (!movedSettings.includes(key as SettingKey)) {
    return [{ field: 'key', code: 'unknown_setting', message: 'is no setting that goes with a workspace' }];
  }
  const setting = key as SettingKey;
  if (setting === 'logo' || setting === 'favicon') return imageFaults(value);
  if (!sameShape(value, settingDefaults[setting])) {
    return [{ field: 'value', code: 'wrong_type', message: 'is not what the setting holds' }];
  }
  if (setting === 'archive_retention_days' || setting === 'notification_digest_minutes') {
    return bounds(value as number, 0, 3_650);
  }
  if (setting === 'fiscal_year_start') return bounds(value as number, 1, 12);
  return settingFaults(setting as never, value as SettingValues[never], around);
}

function bounds(value: number, least: number, most: number): FieldError[] {
  if (Number.isInteger(value) && value >= least && value <= most) return [];
  return [{ field: 'value', code: 'out_of_range', message: `is no whole number from ${least} to ${most}` }];
}

const Image = Type.Object(
  {
    file_id: Uuid,
    media_type: oneOf(...Object.keys(imageTypes)),
    size: Type.Integer({ minimum: 1, maximum: MAX_IMAGE }),
    // it goes into a header
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  closed,
);

function imageFaults(value: unknown): FieldError[] {
  return value === null || shapeFaults(Image, value).length === 0
    ? []
    : [{ field: 'value', code: 'wrong_type', message: 'names no picture' }];
}

/** Whether a value has the types of another, member by member. */
function sameShape(value: unknown, like: unknown): boolean {
  if (Array.isArray(like)) {
    return Array.isArray(value) && value.every((item) => typeof item === 'string' && item.length <= 1_000);
  }
  if (typeof like === 'object' && like !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return Object.entries(value).every(
      ([key, member]) =>
        Object.hasOwn(like, key) && sameShape(member, (like as Record<string, unknown>)[key]),
    );
  }
  return typeof value === typeof like && (typeof value !== 'string' || value.length <= 10_000);
}
