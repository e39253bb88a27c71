package dev.tandemkv.catalog;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Public, to be tried, and not yet promised: what is marked may change or go in any release, without deprecation. A type is marked with all that
 * it contains. Which parts are marked, and why, is in {@code docs/stability.md}.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.FIELD, ElementType.CONSTRUCTOR, ElementType.PACKAGE})
public @interface Experimental {}
