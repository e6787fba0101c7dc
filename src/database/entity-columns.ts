import { getMetadataArgsStorage } from 'typeorm';

/**
 * An entity's columns under the names of its properties, so that the rows of a statement written by hand are its objects.
 * @param from the table or its alias in the statement
 */
export function columnsOf(entity: new () => object, from: string): string {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .map(({ propertyName, options }) => `${from}.${options.name ?? propertyName} AS "${propertyName}"`)
    .join(', ');
}
