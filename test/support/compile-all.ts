/** All that a process of the service loads; what was compiled is kept when the process ends. */
await import('../../boot.ts');
await import('../../api/serve.ts');
await import('../../workers/processors.ts');
await import('../../workers/runtime.ts');
