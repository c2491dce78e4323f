export { ApiError, answer, type ClientOptions, call, configure, type FieldError } from './calls.ts';
export { type Change, changesAfter } from './changes.ts';
export { followEvents, type StreamEvent } from './events.ts';
export * from './generated/sdk.gen.ts';
export type * from './generated/types.gen.ts';
export { waitForJob } from './jobs.ts';
export { items } from './pages.ts';
