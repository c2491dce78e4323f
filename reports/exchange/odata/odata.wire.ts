/** How many control members a response has (OData JSON format, 3.1). */
export type MetadataLevel = 'none' | 'minimal' | 'full';

/** The form of responses. */
export interface Wire {
  /** The service root URL without a trailing slash. */
  root: string;
  /** The highest protocol version that the client supports. */
  version: '4.0' | '4.01';
  metadata: MetadataLevel;
  /** Whether decimal numbers are written as strings (`IEEE754Compatible=true`). */
  exactNumbers: boolean;
}
