import { Injectable } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { HttpSettings } from '../config/http-settings';
import { ROUTE_TAGS } from '../http/route-tags';

/** The groups of routes that this process serves. */
@Injectable()
export class ServedTags {
  constructor(
    private readonly http: HttpSettings,
    private readonly modules: ModulesContainer,
    private readonly reflector: Reflector,
  ) {}

  /** The tags of the controllers that are there and not switched off: a flag can't be forgotten, nor be untrue. */
  list(): Set<string> {
    const tags = new Set<string>();
    for (const { controllers } of this.modules.values()) {
      for (const { metatype } of controllers.values()) {
        const declared = metatype ? this.reflector.get<string[] | undefined>(ROUTE_TAGS, metatype) : undefined;
        for (const tag of declared ?? []) if (!this.http.isDisabled([tag])) tags.add(tag);
      }
    }
    return tags;
  }
}
