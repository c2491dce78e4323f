import packageJson from '../../package.json' with { type: 'json' };

/** The version of the running program. */
export const appVersion: string = packageJson.version;
