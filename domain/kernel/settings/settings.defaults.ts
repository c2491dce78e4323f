/** A picture of the workspace's own, kept as a file. */
export interface StoredImage {
  file_id: string;
  media_type: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal SHA-256. */
  sha256: string;
}

/**
 * Every setting of the workspace with the value it has until somebody sets it; the type of a setting is the type of its
 * default. Secrets are kept encrypted and are not among these.
 */
export const settingDefaults = {
  currency: 'USD' as string,
  date_format: 'DD MMM YYYY' as string,
  app_title: '' as string,
  login_branding: {
    login_tagline: '',
    login_tagline_hidden: false,
    login_help_text: '',
    login_help_link: '',
  },
  bpm_enabled: true as boolean,
  ppm_enabled: true as boolean,
  grc_enabled: true as boolean,
  ai_analysis_enabled: true as boolean,
  file_uploads_enabled: true as boolean,
  bpm_row_order: ['management', 'core', 'support'] as string[],
  fiscal_year_start: 1 as number,
  archive_retention_days: 30 as number,
  registration_enabled: false as boolean,
  /** Who may register, and what becomes of it. */
  registration_policy: {
    /** Domains of the addresses that may register; none: any. */
    allowed_domains: [] as string[],
    /** Whether an administrator activates each account. */
    approval_required: false,
    role: 'viewer',
  },
  principles_display: true as boolean,
  mcp_enabled: false as boolean,
  two_factor_required: false as boolean,
  /** The longest life of an API token that is made from now on. */
  api_token_max_days: 365 as number,
  retention: {
    events_days: 400,
    jobs_days: 90,
    notifications_days: 180,
    files_days: 30,
    idempotency_hours: 24,
    batches_days: 15,
    itsm_runs_days: 90,
    analysis_runs_days: 400,
  },
  cors_origins: [] as string[],
  /** Where end-of-life facts are read from: version 1 of the endoflife.date API; empty for nowhere. */
  eol_source: 'https://endoflife.date/api/v1' as string,
  /** Nobody is sent mails of notifications more often than this; what comes in between is gathered. */
  notification_digest_minutes: 15 as number,
  email: {
    smtp_host: '',
    smtp_port: 587,
    smtp_user: '',
    smtp_from: 'noreply@localhost',
    smtp_tls: true,
    app_base_url: '',
  },
  sso: {
    enabled: false,
    provider: 'microsoft' as 'microsoft' | 'google' | 'okta' | 'oidc',
    client_id: '',
    tenant_id: 'organizations',
    domain: '',
    issuer_url: '',
    authorization_endpoint: '',
    token_endpoint: '',
    jwks_uri: '',
    /** Groups of the provider, each with the role that its members get; the first that fits wins. */
    group_roles: [] as { group: string; role: string }[],
    group_claim: 'groups',
    /** Addresses besides those below the application's own that the provider may send people back to. */
    redirect_uris: [] as string[],
  },
  ai: {
    enabled: false,
    provider_type: 'ollama' as 'ollama' | 'openai' | 'azure_openai' | 'anthropic' | 'gemini',
    provider_url: '',
    model: '',
    api_version: '2025-01-01',
    search_provider: 'duckduckgo',
    search_url: '',
    enabled_types: [] as string[],
    portfolio_insights_enabled: false,
    tokens_per_run: 500_000,
    tokens_per_day: 2_000_000,
    calls_per_day: 5_000,
    /** What of a card a provider is sent, by card type; `*` stands for the types that are not named. */
    outgoing_fields: { '*': ['name', 'alias', 'subtype', 'lifecycle', 'attributes.*'] } as Record<
      string,
      string[]
    >,
  },
  logo: null as StoredImage | null,
  favicon: null as StoredImage | null,
};

export type SettingKey = keyof typeof settingDefaults;
export type SettingValues = typeof settingDefaults;
