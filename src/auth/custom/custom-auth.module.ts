import { Module } from '@nestjs/common';
import { Authorizer } from './authorizer';
import { CustomAuth } from './custom-auth';

/** The custom auth of langgraph.json, for the guard and for the services whose resources it decides about. */
@Module({ providers: [CustomAuth, Authorizer], exports: [CustomAuth, Authorizer] })
export class CustomAuthModule {}
