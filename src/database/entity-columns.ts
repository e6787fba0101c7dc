import { getMetadataArgsStorage } from 'typeorm';

/** A class and those that it extends. */
function lineage(type: object): object[] {
  const parent = Object.getPrototypeOf(type) as object;
  return parent === Function.prototype ? [type] : [type, ...lineage(parent)];
}

/**
 * An entity's columns under the names of its properties, so that the rows of a statement written by hand are its objects.
 * @param from the table or its alias in the statement
 */
export function columnsOf(entity: new () => object, from: string): string {
  return getMetadataArgsStorage()
    .filterColumns(lineage(entity) as (typeof entity)[])
    .map(({ propertyName, options }) => `${from}.${options.name ?? propertyName} AS "${propertyName}"`)
    .join(', ');
}
