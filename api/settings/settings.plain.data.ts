import Type, { type TSchema } from 'typebox';
import type { PlainSetting } from '../../domain/kernel/settings/settings.views.ts';
import * as schemas from '../schemas/settings.ts';

/** One plain setting's place in the API. */
export interface PlainSettingApi {
  key: PlainSetting;
  path: string;
  /** In operation ids. */
  name: string;
  /** What it is, after "Read" and "Change". */
  what: string;
  schema: TSchema;
  /** Whether it may be left out of a change, or be null for its default. */
  optional?: boolean;
  /** Whether anybody may read it. */
  public: boolean;
  /** Of its value. */
  example: unknown;
}

const flag = Type.Boolean();
const module = (key: PlainSetting, path: string, name: string, what: string): PlainSettingApi => ({
  key,
  path,
  name,
  what: `whether ${what} is switched on`,
  schema: flag,
  public: true,
  example: true,
});

/** Every setting of one value, but for the switch of the MCP server, which has a permission of its own. */
export const plainSettings: PlainSettingApi[] = [
  {
    key: 'currency',
    path: 'currency',
    name: 'Currency',
    what: 'the currency of all amounts',
    schema: schemas.currencyCode,
    optional: true,
    public: true,
    example: 'EUR',
  },
  {
    key: 'date_format',
    path: 'date-format',
    name: 'DateFormat',
    what: 'how dates are written',
    schema: schemas.dateFormat,
    optional: true,
    public: true,
    example: 'YYYY-MM-DD',
  },
  {
    key: 'app_title',
    path: 'app-title',
    name: 'AppTitle',
    what: 'the title of the application',
    schema: schemas.appTitle,
    optional: true,
    public: true,
    example: 'Landscape',
  },
  module('bpm_enabled', 'bpm-enabled', 'BpmEnabled', 'business process management'),
  module('ppm_enabled', 'ppm-enabled', 'PpmEnabled', 'project portfolio management'),
  module('grc_enabled', 'grc-enabled', 'GrcEnabled', 'governance, risk and compliance'),
  module('ai_analysis_enabled', 'ai-analysis-enabled', 'AiAnalysisEnabled', 'analysis by AI'),
  module('file_uploads_enabled', 'file-uploads-enabled', 'FileUploadsEnabled', 'attaching files'),
  {
    key: 'bpm_row_order',
    path: 'bpm-row-order',
    name: 'BpmRowOrder',
    what: 'the order of the rows of the process map',
    schema: schemas.rowOrder,
    public: true,
    example: ['core', 'management', 'support'],
  },
  {
    key: 'fiscal_year_start',
    path: 'fiscal-year-start',
    name: 'FiscalYearStart',
    what: 'when the fiscal year begins',
    schema: schemas.month,
    public: true,
    example: 4,
  },
  {
    key: 'archive_retention_days',
    path: 'archive-retention-days',
    name: 'ArchiveRetention',
    what: 'how long archived cards are kept',
    schema: schemas.archiveDays,
    public: true,
    example: 90,
  },
  {
    key: 'registration_enabled',
    path: 'registration',
    name: 'Registration',
    what: 'whether people may register themselves',
    schema: flag,
    public: true,
    example: false,
  },
  {
    key: 'principles_display',
    path: 'principles-display',
    name: 'PrinciplesDisplay',
    what: 'whether the architecture principles are shown',
    schema: flag,
    public: true,
    example: true,
  },
  {
    key: 'two_factor_required',
    path: 'two-factor',
    name: 'TwoFactorSetting',
    what: 'whether local accounts need a second factor',
    schema: flag,
    public: false,
    example: true,
  },
  {
    key: 'api_token_max_days',
    path: 'api-token-life',
    name: 'ApiTokenLife',
    what: 'how long API tokens live at most',
    schema: schemas.tokenDays,
    public: false,
    example: 90,
  },
  {
    key: 'cors_origins',
    path: 'cors-origins',
    name: 'CorsOrigins',
    what: 'whose pages may call the API',
    schema: schemas.origins,
    public: false,
    example: ['https://portal.example'],
  },
  {
    key: 'eol_source',
    path: 'eol-source',
    name: 'EolSource',
    what: 'where end-of-life facts are read from',
    schema: schemas.eolSource,
    public: false,
    example: 'https://mirror.example/endoflife/api/v1',
  },
  {
    key: 'notification_digest_minutes',
    path: 'notification-digest',
    name: 'NotificationDigest',
    what: 'how often mails of notifications are sent',
    schema: schemas.digestMinutes,
    public: false,
    example: 60,
  },
];
