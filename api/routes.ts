import type { Services } from '../domain/services.ts';
import { registerMetamodelRoutes } from './metamodel/metamodel.routes.ts';
import type { App } from './types.ts';

/** Registers one group's schemas and operations. */
export type RouteGroup = (app: App, services: Services) => void | Promise<void>;

/** Every group, in the order of the API's description. */
export const routeGroups: RouteGroup[] = [registerMetamodelRoutes];
