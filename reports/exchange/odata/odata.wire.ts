/** How much an answer tells of itself (OData JSON format, 3.1). */
export type MetadataLevel = 'none' | 'minimal' | 'full';

/** In which form answers go out. */
export interface Wire {
  /** The address of the service, without a slash at the end. */
  root: string;
  /** The protocol's version that the client understands. */
  version: '4.0' | '4.01';
  metadata: MetadataLevel;
  /** Whether decimal numbers go out as text (`IEEE754Compatible=true`). */
  exactNumbers: boolean;
}
