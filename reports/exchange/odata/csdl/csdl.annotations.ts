import type { EntitySet } from '../model/model.types.ts';

/** A constant or structured value of an annotation; the XML and the JSON document are written from it. */
export type AnnotationValue =
  | string
  | number
  | boolean
  | AnnotationValue[]
  | { [member: string]: AnnotationValue };

/** Annotations by term, under the aliases of their vocabularies. */
export type Annotations = Record<string, AnnotationValue>;

/** The vocabularies by alias: namespace and the address of their description. */
export const vocabularies: Record<string, { namespace: string; uri: string }> = {
  Core: {
    namespace: 'Org.OData.Core.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml',
  },
  Capabilities: {
    namespace: 'Org.OData.Capabilities.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml',
  },
  Validation: {
    namespace: 'Org.OData.Validation.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Validation.V1.xml',
  },
};

/** Capabilities of the service. */
export const serviceAnnotations: Annotations = {
  'Core.ODataVersions': '4.0,4.01',
  'Capabilities.ConformanceLevel': { $enum: 'Org.OData.Capabilities.V1.ConformanceLevelType/Intermediate' },
  'Capabilities.BatchSupported': false,
  'Capabilities.AsynchronousRequestsSupported': false,
  'Capabilities.CrossJoinSupported': false,
  'Capabilities.KeyAsSegmentSupported': false,
};

/** Capabilities of an entity set. */
export function setAnnotations(set: EntitySet): Annotations {
  return {
    'Core.Description': set.label,
    'Capabilities.InsertRestrictions': { Insertable: false },
    'Capabilities.UpdateRestrictions': { Updatable: false },
    'Capabilities.DeleteRestrictions': { Deletable: false },
    'Capabilities.ChangeTracking': { Supported: true },
    'Capabilities.SearchRestrictions': { Searchable: set.kind === 'card' },
    'Capabilities.ExpandRestrictions': { Expandable: true, MaxLevels: 3 },
  };
}
